async fn find(pool: &sqlx::PgPool, name: &str) {
    // ruleid: sql-injection
    sqlx::query(&format!("SELECT * FROM users WHERE name = '{}'", name)).fetch_all(pool).await;
}
