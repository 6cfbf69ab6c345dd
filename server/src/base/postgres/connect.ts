import pg from 'pg'

export interface SessionSettings {
  applicationName: string
  parameters: Readonly<Record<string, string>> | null
  connectTimeoutMs: number
}

export async function connect(options: { url?: string; socketFolder?: string; database?: string; user?: string; password?: string }, settings: SessionSettings): Promise<pg.Client> {
  const flags = Object.entries(settings.parameters ?? {}).map(([name, value]) => `-c ${name}=${value}`)
  const url = options.url === undefined ? undefined : new URL(options.url)
  const client = new pg.Client({
    host: options.socketFolder ?? (url?.hostname || '/tmp'),
    ...(url?.port ? { port: Number(url.port) } : {}),
    database: options.database ?? (url?.pathname.slice(1) || 'parley'),
    user: options.user ?? (url?.username || 'parley'),
    password: options.password ?? (decodeURIComponent(url?.password ?? '') || 'none'),
    application_name: settings.applicationName,
    options: flags.join(' ') || undefined,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    pipeline: true,
    ssl: false,
  })
  let failure: unknown
  client.on('error', (error) => { failure = error })
  await client.connect()
  if (failure !== undefined) throw failure
  return client
}
