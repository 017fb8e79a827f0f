# Guest code of the tests: each function is one situation.
.intel_syntax noprefix
.text
.macro function name
.globl \name
.type \name, @function
\name:
.endm

function load_and_add         # rdi: pointer to 8 bytes
    mov rax, [rdi]
    add rax, 1
    ret
function add_to_memory        # two questions: load, store
    add dword ptr [rdi], esi
    ret
function locked_add           # one question
    lock add dword ptr [rdi], esi
    ret
function exchange
    xchg [rdi], rsi
    mov rax, rsi
    ret
function compare_exchange     # expected rsi, new rdx
    mov rax, rsi
    lock cmpxchg [rdi], rdx
    ret
function compare_exchange_16  # expected 0, new rdx:rsi
    push rbx
    mov rbx, rsi
    mov rcx, rdx
    xor eax, eax
    xor edx, edx
    lock cmpxchg16b [rdi]
    pop rbx
    ret
function copy_16              # from rdi to rsi
    movups xmm0, [rdi]
    movups [rsi], xmm0
    ret
function copy_bytes           # rdi: destination, rsi: source, rdx: count
    mov rcx, rdx
    rep movsb
    ret
function push_memory          # a load, then a private store
    push [rdi]
    pop rax
    ret
function fences
    mfence
    sfence
    lfence
    pause
    ret
function stream
    movnti [rdi], rsi
    ret
function store_extended       # 10 bytes: two questions
    fld1
    fstp tbyte ptr [rdi]
    ret
function divide
    mov eax, edi
    cdq
    idiv esi
    ret
function aligned
    movaps xmm0, [rdi]
    ret
function jump
    jmp rdi
function undefined
    ud2
function breakpoint
    int3
function store_8
    mov [rdi], rsi
    ret
function halt
    hlt
function forever
    jmp forever
function many_bytes
    mov rcx, -1
    mov al, 1
    rep lodsb
    ret
function system_call
    mov eax, 39
    syscall
    add rax, 1
    ret
function avx512
    vpaddd zmm0, zmm1, zmm2
    ret
function never_executed
    test edi, edi
    je 1f
    vpaddd zmm0, zmm1, zmm2
1:  mov eax, 5
    ret
function random
    rdrand rax
    rdtsc
    ret
function set_flags            # rdi
    push rdi
    popfq
    ret
function count_until_equal    # rdi: count, rsi: what rax is compared with; returns what is left of the count
    mov rcx, rdi
    xor eax, eax
1:  inc rax
    cmp rax, rsi
    loopne 1b
    mov rax, rcx
    ret
function count_while_zero     # rdi: count, rsi: pointer to bytes; returns what is left of the count
    mov rcx, rdi
1:  inc rsi
    cmp byte ptr [rsi-1], 0
    loope 1b
    mov rax, rcx
    ret
function count_in_32_bits     # rdi: count; returns the rounds
    mov rcx, rdi
    xor eax, eax
1:  inc rax
    addr32 loop 1b
    shl rcx, 8
    add rax, rcx
    ret
function gather               # 4 elements at the indices rsi[0..4] of rdi under the mask rdx[0..4], to rcx[0..4]
    vmovdqu xmm1, [rsi]
    vmovdqu xmm2, [rdx]
    vmovdqu xmm0, [rcx]
    vpgatherdd xmm0, [rdi+xmm1*4], xmm2
    vmovdqu [rcx], xmm0
    vmovdqu [rdx], xmm2
    ret
function rounding_vex         # sets mxcsr from rdi and reads it
    vldmxcsr [rdi]
    vstmxcsr [rdi+8]
    mov rax, [rdi+8]
    ret
function unmask
    push 0
    fldcw [rsp]
    pop rax
    ret
function thirds               # long double arithmetic with a question in the middle
    fild qword ptr [rsi]
    mov rax, [rdi]
    fild qword ptr [rsi+8]
    fdivrp
    fstp tbyte ptr [rdx]
    ret
function rounding             # sets mxcsr from rsi, then divides 1 by 3
    ldmxcsr [rsi]
    mov eax, 1
    cvtsi2sd xmm0, rax
    mov rax, [rdi]
    mov eax, 3
    cvtsi2sd xmm1, rax
    divsd xmm0, xmm1
    movq rax, xmm0
    stmxcsr [rsi]
    ret
function red_zone             # uses the bytes below the stack pointer across a question
    mov qword ptr [rsp-8], 41
    mov rax, [rdi]
    add [rsp-8], rax
    mov rax, [rsp-8]
    ret
function set_fs
    mov rax, fs:[8]
    mov rcx, 2
    mov rdx, 8
    add rax, fs:[rdx+rcx*4]
    ret
function call_host            # calls the function in rdi
    sub rsp, 8
    call rdi
    add rsp, 8
    add rax, 1
    ret
function recurse              # a deep stack, then a question at the top and in the depth
    push rbx
    mov rbx, rsi
    test esi, esi
    je 1f
    dec esi
    call recurse
    add rax, rbx
    mov rcx, [rdi]
    add rax, rcx
    pop rbx
    ret
1:  mov rax, [rdi]
    pop rbx
    ret
function store_and_load       # store buffering: stores 1 to rdi, returns what it loads from rsi
    push rbp
    mov rbp, rsp
    mov qword ptr [rbp-8], 1
    mov rax, [rbp-8]
    mov [rdi], rax
    mov rax, [rsi]
    mov [rbp-8], rax
    mov rax, [rbp-8]
    pop rbp
    ret
function increment_twice      # rdi: pointer; two locked additions around a private counter
    mov qword ptr [rsp-16], 0
    lock inc qword ptr [rdi]
    inc qword ptr [rsp-16]
    lock inc qword ptr [rdi]
    inc qword ptr [rsp-16]
    mov rax, [rsp-16]
    ret
function count_bits
    popcnt rax, rdi
    ret
function lowest_bit
    bsf rax, rdi
    ret
function highest_bit
    bsr rax, rdi
    ret
function identify             # rdi: leaf, rsi: subleaf
    push rbx
    mov eax, edi
    mov ecx, esi
    cpuid
    mov r8, rbx
    pop rbx
    ret
function trampoline           # writes `mov eax, edi; ret` to rsi and calls it, then with 1 added
    sub rsp, 8
    mov byte ptr [rsi], 0xb8
    mov [rsi+1], edi
    mov byte ptr [rsi+5], 0xc3
    call rsi
    mov r8, rax
    inc edi
    mov [rsi+1], edi
    call rsi
    add rax, r8
    add rsp, 8
    ret
function self_modifying       # code at rsi that changes the instruction after it
    sub rsp, 8
    # mov byte ptr [rsi+5], 7; mov eax, 1; ret: the first one makes the second one `mov eax, 7`
    mov dword ptr [rsi], 0x070546c6
    mov dword ptr [rsi+4], 0x000001b8
    mov dword ptr [rsi+8], 0x0000c300
    call rsi
    add rsp, 8
    ret
.section .note.GNU-stack,"",@progbits
