class Orders
{
    void Find(SqlConnection connection, string name)
    {
        // ruleid: sql-injection
        var command = new SqlCommand("SELECT * FROM orders WHERE name = '" + name + "'", connection);
    }

    void More(MySqlCommand command, DbContext db, string id)
    {
        // ruleid: sql-injection
        command.CommandText = $"DELETE FROM orders WHERE id = {id}";
        // ruleid: sql-injection
        db.Database.ExecuteSqlRaw(string.Format("DELETE FROM orders WHERE id = {0}", id));
    }
}
