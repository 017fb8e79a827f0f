# String functions that access exactly the bytes that the C standard lets them access, one by one and once each.
# `strings.rs` contains the assembled bytes; a test assembles this file and compares.
    .intel_syntax noprefix
    .text

    .macro function name
    .balign 16, 0xcc
    .globl raddle_\name
raddle_\name:
    .endm

function strlen
    xor eax, eax
1:  cmp byte ptr [rdi + rax], 0
    je 2f
    inc rax
    jmp 1b
2:  ret

function strnlen
    xor eax, eax
1:  cmp rax, rsi
    je 2f
    cmp byte ptr [rdi + rax], 0
    je 2f
    inc rax
    jmp 1b
2:  ret

function strchr
1:  movzx eax, byte ptr [rdi]
    cmp al, sil
    je 2f
    inc rdi
    test al, al
    jne 1b
    xor eax, eax
    ret
2:  mov rax, rdi
    ret

function strchrnul
1:  movzx eax, byte ptr [rdi]
    cmp al, sil
    je 2f
    test al, al
    je 2f
    inc rdi
    jmp 1b
2:  mov rax, rdi
    ret

function strrchr
    xor edx, edx
1:  movzx eax, byte ptr [rdi]
    cmp al, sil
    cmove rdx, rdi
    inc rdi
    test al, al
    jne 1b
    mov rax, rdx
    ret

function strcmp
1:  movzx eax, byte ptr [rdi]
    movzx ecx, byte ptr [rsi]
    cmp eax, ecx
    jne 2f
    inc rdi
    inc rsi
    test eax, eax
    jne 1b
2:  sub eax, ecx
    ret

function strncmp
1:  test rdx, rdx
    je 3f
    movzx eax, byte ptr [rdi]
    movzx ecx, byte ptr [rsi]
    cmp eax, ecx
    jne 2f
    inc rdi
    inc rsi
    dec rdx
    test eax, eax
    jne 1b
2:  sub eax, ecx
    ret
3:  xor eax, eax
    ret

# The locale is that of C or C.UTF-8, in which only ASCII letters have cases.
    .macro lower register, scratch
    lea \scratch, [\register - 'A']
    cmp \scratch, 25
    ja 9f
    add \register, 'a' - 'A'
9:
    .endm

function strcasecmp
1:  movzx eax, byte ptr [rdi]
    movzx ecx, byte ptr [rsi]
    lower eax, r8d
    lower ecx, r8d
    cmp eax, ecx
    jne 2f
    inc rdi
    inc rsi
    test eax, eax
    jne 1b
2:  sub eax, ecx
    ret

function strncasecmp
1:  test rdx, rdx
    je 3f
    movzx eax, byte ptr [rdi]
    movzx ecx, byte ptr [rsi]
    lower eax, r8d
    lower ecx, r8d
    cmp eax, ecx
    jne 2f
    inc rdi
    inc rsi
    dec rdx
    test eax, eax
    jne 1b
2:  sub eax, ecx
    ret
3:  xor eax, eax
    ret

function strcpy
    mov rax, rdi
1:  movzx ecx, byte ptr [rsi]
    mov byte ptr [rdi], cl
    inc rdi
    inc rsi
    test ecx, ecx
    jne 1b
    ret

function stpcpy
1:  movzx ecx, byte ptr [rsi]
    mov byte ptr [rdi], cl
    test ecx, ecx
    je 2f
    inc rdi
    inc rsi
    jmp 1b
2:  mov rax, rdi
    ret

function strncpy
    mov rax, rdi
1:  test rdx, rdx
    je 3f
    movzx ecx, byte ptr [rsi]
    mov byte ptr [rdi], cl
    inc rdi
    inc rsi
    dec rdx
    test ecx, ecx
    jne 1b
2:  test rdx, rdx
    je 3f
    mov byte ptr [rdi], 0
    inc rdi
    dec rdx
    jmp 2b
3:  ret

function stpncpy
1:  mov rax, rdi
    test rdx, rdx
    je 3f
    movzx ecx, byte ptr [rsi]
    mov byte ptr [rdi], cl
    inc rdi
    inc rsi
    dec rdx
    test ecx, ecx
    jne 1b
2:  test rdx, rdx
    je 3f
    mov byte ptr [rdi], 0
    inc rdi
    dec rdx
    jmp 2b
3:  ret

function strcat
    mov rax, rdi
1:  cmp byte ptr [rdi], 0
    je 2f
    inc rdi
    jmp 1b
2:  movzx ecx, byte ptr [rsi]
    mov byte ptr [rdi], cl
    inc rdi
    inc rsi
    test ecx, ecx
    jne 2b
    ret

function strncat
    mov rax, rdi
1:  cmp byte ptr [rdi], 0
    je 2f
    inc rdi
    jmp 1b
2:  test rdx, rdx
    je 3f
    movzx ecx, byte ptr [rsi]
    test ecx, ecx
    je 3f
    mov byte ptr [rdi], cl
    inc rdi
    inc rsi
    dec rdx
    jmp 2b
3:  mov byte ptr [rdi], 0
    ret

function strstr
1:  xor ecx, ecx
2:  movzx eax, byte ptr [rsi + rcx]
    test eax, eax
    je 4f
    movzx edx, byte ptr [rdi + rcx]
    cmp eax, edx
    jne 3f
    inc rcx
    jmp 2b
3:  test edx, edx
    je 5f
    inc rdi
    jmp 1b
4:  mov rax, rdi
    ret
5:  xor eax, eax
    ret

function memchr
1:  test rdx, rdx
    je 3f
    cmp byte ptr [rdi], sil
    je 2f
    inc rdi
    dec rdx
    jmp 1b
2:  mov rax, rdi
    ret
3:  xor eax, eax
    ret

function memrchr
1:  test rdx, rdx
    je 3f
    dec rdx
    cmp byte ptr [rdi + rdx], sil
    jne 1b
    lea rax, [rdi + rdx]
    ret
3:  xor eax, eax
    ret

function rawmemchr
1:  cmp byte ptr [rdi], sil
    je 2f
    inc rdi
    jmp 1b
2:  mov rax, rdi
    ret

function memcmp
1:  test rdx, rdx
    je 3f
    movzx eax, byte ptr [rdi]
    movzx ecx, byte ptr [rsi]
    inc rdi
    inc rsi
    dec rdx
    sub eax, ecx
    je 1b
    ret
3:  xor eax, eax
    ret

function wcslen
    xor eax, eax
1:  cmp dword ptr [rdi + 4 * rax], 0
    je 2f
    inc rax
    jmp 1b
2:  ret

function wcsnlen
    xor eax, eax
1:  cmp rax, rsi
    je 2f
    cmp dword ptr [rdi + 4 * rax], 0
    je 2f
    inc rax
    jmp 1b
2:  ret

function wcschr
1:  mov eax, dword ptr [rdi]
    cmp eax, esi
    je 2f
    add rdi, 4
    test eax, eax
    jne 1b
    xor eax, eax
    ret
2:  mov rax, rdi
    ret

function wcsrchr
    xor edx, edx
1:  mov eax, dword ptr [rdi]
    cmp eax, esi
    cmove rdx, rdi
    add rdi, 4
    test eax, eax
    jne 1b
    mov rax, rdx
    ret

function wcscmp
1:  mov eax, dword ptr [rdi]
    mov ecx, dword ptr [rsi]
    cmp eax, ecx
    jne 2f
    add rdi, 4
    add rsi, 4
    test eax, eax
    jne 1b
    ret
2:  setg al
    movzx eax, al
    lea eax, [2 * rax - 1]
    ret

function wcscpy
    mov rax, rdi
1:  mov ecx, dword ptr [rsi]
    mov dword ptr [rdi], ecx
    add rdi, 4
    add rsi, 4
    test ecx, ecx
    jne 1b
    ret

function wmemchr
1:  test rdx, rdx
    je 3f
    cmp dword ptr [rdi], esi
    je 2f
    add rdi, 4
    dec rdx
    jmp 1b
2:  mov rax, rdi
    ret
3:  xor eax, eax
    ret

function wmemcmp
1:  test rdx, rdx
    je 3f
    mov eax, dword ptr [rdi]
    mov ecx, dword ptr [rsi]
    add rdi, 4
    add rsi, 4
    dec rdx
    cmp eax, ecx
    je 1b
    setg al
    movzx eax, al
    lea eax, [2 * rax - 1]
    ret
3:  xor eax, eax
    ret

    .balign 16, 0xcc
