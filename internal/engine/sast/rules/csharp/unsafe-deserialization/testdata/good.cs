class Store
{
    Order Load(Stream stream)
    {
        return JsonSerializer.Deserialize<Order>(stream);
    }

    JsonSerializerSettings Settings()
    {
        return new JsonSerializerSettings { TypeNameHandling = TypeNameHandling.None };
    }
}
