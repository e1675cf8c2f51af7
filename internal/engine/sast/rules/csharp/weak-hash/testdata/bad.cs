class Sums
{
    byte[] Sum(byte[] data)
    {
        // ruleid: weak-hash
        return MD5.Create().ComputeHash(data);
    }
}
