//! Which instructions may run natively.

use iced_x86::{
    Code, CpuidFeature, EncodingKind, FlowControl, Instruction, Mnemonic, OpKind, Register,
};
use std::arch::is_x86_feature_detected;

/// Why an instruction does not run natively. The numbers are indices of the reasons that refusals report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    HostLacks = 1,
    StackPointer = 2,
    SeveralAccesses = 3,
    Conditional = 4,
    NoRegister = 5,
    Avx512 = 6,
    System = 7,
    Encoding = 9,
    MmxAndSse = 11,
    TooLarge = 12,
}

/// Checks everything but the operands.
pub(super) fn check(instruction: &Instruction) -> Result<(), Reason> {
    if instruction.encoding() == EncodingKind::EVEX || instruction.encoding() == EncodingKind::MVEX
    {
        return Err(Reason::Avx512);
    }
    if instruction.is_privileged()
        || instruction.is_stack_instruction()
        || instruction.is_string_instruction()
        || instruction.has_lock_prefix()
        || instruction.flow_control() != FlowControl::Next
        || is_system(instruction.mnemonic())
        || explicit_registers(instruction).any(is_system_register)
    {
        return Err(Reason::System);
    }
    if instruction.is_vsib() {
        return Err(Reason::SeveralAccesses);
    }
    let is_bit_string = matches!(
        instruction.mnemonic(),
        Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc
    ) && instruction.op0_kind() == OpKind::Memory
        && instruction.op1_kind() == OpKind::Register;
    if is_bit_string {
        return Err(Reason::System);
    }
    let registers: Vec<Register> = explicit_registers(instruction).collect();
    let converts = is_mmx_conversion(instruction.mnemonic());
    if converts || (registers.iter().any(|r| r.is_mm()) && registers.iter().any(|r| r.is_xmm())) {
        return Err(Reason::MmxAndSse);
    }
    instruction.cpuid_features().iter().try_for_each(|feature| check_feature(*feature))
}

/// The register operands.
pub(super) fn explicit_registers(instruction: &Instruction) -> impl Iterator<Item = Register> {
    (0..instruction.op_count())
        .filter(|operand| instruction.op_kind(*operand) == OpKind::Register)
        .map(|operand| instruction.op_register(operand))
}

fn is_system_register(register: Register) -> bool {
    register.is_segment_register() || register.is_cr() || register.is_dr() || register.is_tr()
}

fn is_mmx_conversion(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Cvtpi2ps | M::Cvtps2pi | M::Cvttps2pi | M::Cvtpi2pd | M::Cvtpd2pi | M::Cvttpd2pi
    )
}

/// Instructions that belong to allowed features but ask or tell the system, may raise an exception, or access memory implicitly.
fn is_system(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Lea
            | M::Div
            | M::Idiv
            | M::Ldmxcsr
            | M::Stmxcsr
            | M::Vldmxcsr
            | M::Vstmxcsr
            | M::Maskmovdqu
            | M::Maskmovq
            | M::Vmaskmovps
            | M::Vmaskmovpd
            | M::Vpmaskmovd
            | M::Vpmaskmovq
            | M::Vmaskmovdqu
            | M::Fxsave
            | M::Fxrstor
            | M::Fxsave64
            | M::Fxrstor64
            | M::Xlatb
            | M::Cld
            | M::Std
            | M::Cli
            | M::Sti
            | M::In
            | M::Out
            | M::Lfs
            | M::Lgs
            | M::Lss
            | M::Lds
            | M::Les
            | M::Lar
            | M::Lsl
            | M::Verr
            | M::Verw
            | M::Sldt
            | M::Str
            | M::Smsw
            | M::Sgdt
            | M::Sidt
            | M::Arpl
            | M::Hlt
            | M::Bound
            | M::Fldenv
            | M::Fnstenv
            | M::Fstenv
            | M::Frstor
            | M::Fnsave
            | M::Fsave
            | M::Swapgs
            | M::Wait
            | M::Fnop
            | M::Fneni
            | M::Fndisi
            | M::Fnsetpm
            | M::Cpuid
            | M::Mfence
            | M::Lfence
            | M::Sfence
            | M::Pause
            | M::Ud0
            | M::Ud1
            | M::Ud2
            | M::Into
            | M::Rdpmc
    )
}

/// A feature whose instructions only compute, if the host has it.
fn check_feature(feature: CpuidFeature) -> Result<(), Reason> {
    use CpuidFeature as F;
    let is_present = match feature {
        F::INTEL8086
        | F::INTEL186
        | F::INTEL286
        | F::INTEL386
        | F::INTEL486
        | F::X64
        | F::CMOV
        | F::CX8
        | F::FPU
        | F::FPU287
        | F::FPU387
        | F::MMX
        | F::SSE
        | F::SSE2 => true,
        F::CMPXCHG16B => is_x86_feature_detected!("cmpxchg16b"),
        F::SSE3 => is_x86_feature_detected!("sse3"),
        F::SSSE3 => is_x86_feature_detected!("ssse3"),
        F::SSE4_1 => is_x86_feature_detected!("sse4.1"),
        F::SSE4_2 => is_x86_feature_detected!("sse4.2"),
        F::POPCNT => is_x86_feature_detected!("popcnt"),
        F::LZCNT => is_x86_feature_detected!("lzcnt"),
        F::BMI1 => is_x86_feature_detected!("bmi1"),
        F::BMI2 => is_x86_feature_detected!("bmi2"),
        F::MOVBE => is_x86_feature_detected!("movbe"),
        F::ADX => is_x86_feature_detected!("adx"),
        F::AVX => is_x86_feature_detected!("avx"),
        F::AVX2 => is_x86_feature_detected!("avx2"),
        F::FMA => is_x86_feature_detected!("fma"),
        F::F16C => is_x86_feature_detected!("f16c"),
        F::AES => is_x86_feature_detected!("aes"),
        F::PCLMULQDQ => is_x86_feature_detected!("pclmulqdq"),
        F::SHA => is_x86_feature_detected!("sha"),
        _ => return Err(Reason::System),
    };
    if is_present { Ok(()) } else { Err(Reason::HostLacks) }
}

/// Whether the instruction depends on mxcsr or changes it. Moves, logic and integer instructions do not.
pub(super) fn is_float(instruction: &Instruction) -> bool {
    let name = format!("{:?}", instruction.mnemonic());
    let name = name.strip_prefix('V').unwrap_or(&name);
    let integer = [
        "P",
        "Mov",
        "mov",
        "And",
        "and",
        "Or",
        "or",
        "Xor",
        "xor",
        "Shuf",
        "shuf",
        "Unpck",
        "unpck",
        "p",
        "Ext",
        "ext",
        "Insert",
        "insert",
        "Aes",
        "aes",
        "Sha",
        "Lddqu",
        "lddqu",
        "broadcast",
        "blend",
        "Blend",
        "perm",
        "Crc",
        "test",
        "zero",
        "Mpsad",
        "mpsad",
        "mask",
        "Maskmov",
    ];
    let is_vector = instruction.cpuid_features().iter().any(|feature| {
        use CpuidFeature as F;
        matches!(
            feature,
            F::SSE
                | F::SSE2
                | F::SSE3
                | F::SSE4_1
                | F::SSE4_2
                | F::AVX
                | F::AVX2
                | F::FMA
                | F::F16C
        )
    });
    is_vector && !integer.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a memory operand must be a multiple of its size.
pub(super) fn is_aligned(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let mnemonic = instruction.mnemonic();
    if instruction.encoding() != EncodingKind::Legacy {
        return matches!(
            mnemonic,
            M::Vmovaps
                | M::Vmovapd
                | M::Vmovdqa
                | M::Vmovntdq
                | M::Vmovntps
                | M::Vmovntpd
                | M::Vmovntdqa
        );
    }
    let is_vector = explicit_registers(instruction).any(Register::is_xmm);
    let is_unaligned = matches!(
        mnemonic,
        M::Movups
            | M::Movupd
            | M::Movdqu
            | M::Lddqu
            | M::Pcmpestri
            | M::Pcmpestrm
            | M::Pcmpistri
            | M::Pcmpistrm
            | M::Pcmpestri64
            | M::Pcmpestrm64
    );
    let is_sha = instruction.cpuid_features().contains(&CpuidFeature::SHA);
    is_vector && instruction.memory_size().size() == 16 && !is_unaligned && !is_sha
}

/// Whether the instruction stores without the usual order.
pub(super) fn is_non_temporal(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(
        instruction.mnemonic(),
        M::Movnti
            | M::Movntq
            | M::Movntdq
            | M::Movntps
            | M::Movntpd
            | M::Movntsd
            | M::Movntss
            | M::Vmovntdq
            | M::Vmovntps
            | M::Vmovntpd
    )
}

/// Whether the instruction loads an x87 control word.
pub(super) fn is_control_word(instruction: &Instruction) -> bool {
    instruction.code() == Code::Fldcw_m2byte
}
