class Client
{
    void Make(HttpClientHandler handler)
    {
        // ruleid: certificate-verification-off
        handler.ServerCertificateCustomValidationCallback = (message, cert, chain, errors) => true;
        // ruleid: certificate-verification-off
        ServicePointManager.ServerCertificateValidationCallback += (sender, cert, chain, errors) => true;
    }
}
