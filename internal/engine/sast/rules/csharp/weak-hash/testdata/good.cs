class Sums
{
    byte[] Sum(byte[] data)
    {
        return SHA256.HashData(data);
    }
}
