fn number(bytes: [u8; 4]) -> u32 {
    u32::from_le_bytes(bytes)
}
