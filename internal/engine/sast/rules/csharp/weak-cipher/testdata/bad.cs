class Box
{
    void Make(Aes aes)
    {
        // ruleid: weak-cipher
        var des = DES.Create();
        // ruleid: weak-cipher
        aes.Mode = CipherMode.ECB;
    }
}
