import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dataFolder, folder, pidOf, requireState } from '../cluster-folder.ts'
import { addressOf, apis, outerUrl, ports, range, type Service, urlOf } from '../machines.ts'
import { signalOne, startOn, until, waitForExit } from '../processes.ts'
import { databaseUrl } from './databases.ts'

const program = fileURLToPath(new URL('../../../server/src/main.ts', import.meta.url))
const cache = fileURLToPath(new URL('../../../node_modules/.cache/parley-cluster', import.meta.url))
const outside = fileURLToPath(new URL('../external-services.ts', import.meta.url))

/** Longer than draining plus the time to finish current work. */
const maxStopMs = 40_000

export function startService(name: Service): void {
  const part = apis.some((api) => api === name) ? 'api' : 'worker'
  startOn(name, { name, argv: [process.execPath, program, 'serve', '--only', part], env: environmentOf(name) })
}

export function environmentOf(name: Service): Record<string, string> {
  const { masterKey, parley, teamToken } = requireState().secrets
  return {
    NODE_COMPILE_CACHE: cache,
    DATABASE_URL: databaseUrl,
    PGPASSWORD: parley,
    PARLEY_MASTER_KEY: masterKey,
    PARLEY_TEAM_TOKEN: teamToken,
    PARLEY_MEDIA_URL: `file://${dataFolder('media')}`,
    PARLEY_DATA_DIR: dataFolder(name),
    PARLEY_URL: outerUrl,
    PARLEY_HOST: addressOf(name),
    PARLEY_PORT: String(ports.parley),
    PARLEY_TRUSTED_PROXIES: addressOf('balancer'),
    // The platform and the webhook receiver have private addresses here.
    PARLEY_ALLOW_CIDRS: range,
    // Counted as in production, but never reached.
    PARLEY_LEADS_RATE_LIMIT: '1000000',
    PARLEY_INBOX_RATE_LIMIT: '1000000',
    PARLEY_TEAM_RATE_LIMIT: '1000000',
  }
}

export async function ready(name: Service, timeoutMs = 60_000): Promise<void> {
  const url = `${urlOf(name, ports.parley)}/readyz`
  const isReady = async () => (await fetch(url, { signal: AbortSignal.timeout(4_000) })).ok
  await until(isReady, `${name}, ready`, timeoutMs)
}

/** Stops a service gracefully and starts it again, as described in docs/operations.md. */
export async function restart(name: Service): Promise<void> {
  const pid = pidOf(name)
  signalOne(pid, 'SIGTERM')
  await waitForExit(pid, maxStopMs)
  startService(name)
  await ready(name)
  if (apis.some((api) => api === name))
    await until(async () => (await listServingApis()).includes(name), `${name} at the load balancer`)
}

/** Routes to ready servers; if none is ready, to live ones, which answer with when to retry. */
const balancerConfig = () => `
defaults
  mode http
  option forwardfor
  option redispatch
  retries 2
  timeout connect 2s
  timeout check 2s
  timeout client 60s
  timeout server 60s
frontend parley
  bind :${ports.balancer}
  use_backend ready if { nbsrv(ready) gt 0 }
  default_backend alive
backend ready
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server inter 1s fall 2 rise 1
${serverLines()}
backend alive
  balance roundrobin
  option httpchk GET /healthz
  http-check expect status 200
  default-server inter 1s fall 2 rise 1
${serverLines()}
frontend state
  bind ${addressOf('balancer')}:${ports.balancerState}
  stats enable
  stats uri /
`

const serverLines = () => apis.map((name) => `  server ${name} ${addressOf(name)}:${ports.parley} check`).join('\n')

export function startBalancer(): void {
  const file = join(dataFolder('balancer'), 'haproxy.cfg')
  writeFileSync(file, balancerConfig())
  startOn('balancer', { name: 'balancer', argv: ['haproxy', '-db', '-f', file] })
}

/** Returns the APIs that the load balancer sends requests to. */
export async function listServingApis(): Promise<string[]> {
  const url = `${urlOf('balancer', ports.balancerState)}/;csv`
  const lines = (await (await fetch(url, { signal: AbortSignal.timeout(3_000) })).text()).split('\n')
  const columns = lines[0]?.replace('# ', '').split(',') ?? []
  const at = (line: string, name: string) => line.split(',')[columns.indexOf(name)]
  return lines
    .filter((line) => at(line, 'pxname') === 'ready' && at(line, 'status') === 'UP')
    .map((line) => at(line, 'svname') ?? '')
    .filter((name) => name !== 'BACKEND')
}

/** Starts the chat platform, the recording proxy and the webhook receiver. */
export async function startOutside(): Promise<void> {
  const simulate = ['simulate', '--host', addressOf('outside'), '--port', String(ports.simulator), '--json']
  startOn('outside', {
    name: 'platform',
    argv: [process.execPath, program, ...simulate],
    env: { NODE_COMPILE_CACHE: cache },
  })
  const argv = [process.execPath, outside, addressOf('outside'), ledgerFolder()]
  startOn('outside', { name: 'outside', argv })
  await until(async () => (await fetch(`${urlOf('outside', ports.platform)}/simulator/numbers`)).ok, 'the platform')
}

export const ledgerFolder = (): string => dataFolder('outside')
export const clusterFolder = folder
