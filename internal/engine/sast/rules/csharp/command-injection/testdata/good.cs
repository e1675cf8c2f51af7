class Hosts
{
    void Ping(string host)
    {
        var info = new ProcessStartInfo("ping");
        info.ArgumentList.Add(host);
    }

    void Other()
    {
        Process.Start("cmd.exe", "/c dir");
    }
}
