class Hosts
{
    void Ping(string host)
    {
        // ruleid: command-injection
        Process.Start("cmd.exe", "/c ping " + host);
    }

    void Other(string file)
    {
        // ruleid: command-injection
        var info = new ProcessStartInfo("/bin/bash", $"-c \"convert {file}\"");
    }
}
