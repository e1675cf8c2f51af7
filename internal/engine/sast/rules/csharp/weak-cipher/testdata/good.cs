class Box
{
    AesGcm Make(byte[] key)
    {
        return new AesGcm(key, 16);
    }

    void Other(Aes aes)
    {
        aes.Mode = CipherMode.CBC;
    }
}
