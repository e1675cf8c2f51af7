fn number(bytes: [u8; 4]) -> u32 {
    // ruleid: transmute
    unsafe { std::mem::transmute(bytes) }
}
