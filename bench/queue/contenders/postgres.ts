/**
 * A database of its own for each queue on PostgreSQL, dropped with it.
 */
import pg from 'pg'

export async function ownDatabase(
  server: string,
  label: string,
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const name = `bench_${label.replaceAll(/\W/g, '_')}`
  await command(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await command(server, `CREATE DATABASE ${name}`)
  return { url: `${server}/${name}`, drop: () => command(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

export async function command(url: string, sql: string): Promise<void> {
  await query(url, sql)
}

export async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const database = /\/\w+$/.test(new URL(url).pathname) ? url : `${url}/postgres`
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    const { rows } = await client.query(sql)
    return rows as Row[]
  } finally {
    await client.end()
  }
}
