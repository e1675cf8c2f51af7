class Store
{
    object Load(Stream stream)
    {
        // ruleid: unsafe-deserialization
        return new BinaryFormatter().Deserialize(stream);
    }

    JsonSerializerSettings Settings()
    {
        // ruleid: unsafe-deserialization
        return new JsonSerializerSettings { TypeNameHandling = TypeNameHandling.All };
    }
}
