import asyncpg
import psycopg
from aiohttp import web


async def report(request):
    name = request.query["name"]
    connection = await asyncpg.connect("postgres://db")
    # ruleid: sql-injection
    await connection.fetch("select * from report where name = '" + name + "'")
    # ok: sql-injection
    await connection.fetch("select * from report where name = $1", name)
    pool = await asyncpg.create_pool("postgres://db")
    async with pool.acquire() as held:
        # ruleid: sql-injection
        await held.fetchrow(f"select 1 from {name}")
    other = await psycopg.AsyncConnection.connect("postgres://db")
    # ruleid: sql-injection
    await other.execute("select " + name)
    return web.Response(text="done")


app = web.Application()
app.router.add_get("/report", report)
