import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { atEnd } from '../file-lifecycle.ts'
import { ask, freePort, operatorToken, type Service, type ServiceOptions, startService } from './service.ts'

/** Starts a service with the demo data, which has chats and files. */
export async function startDemo(options: ServiceOptions = {}): Promise<Service> {
  const simulator = { PARLEY_SIMULATOR: '1', PARLEY_SIMULATOR_PORT: String(await freePort()) }
  const service = await startService({ ...options, env: { PARLEY_DEMO: '1', ...simulator, ...options.env } })
  await service.hasPrinted('Stop with Ctrl+C.')
  return service
}

/** Asserts that every file shown in a conversation of the demo can be downloaded unchanged. */
export async function readsEveryFile(url: string): Promise<void> {
  const team = (path: string) => ask(url, operatorToken, `GET /api/team/v1/workspaces${path}`)
  const { workspaces } = (await team('')).body
  let read = 0
  for (const { id } of workspaces) {
    const at = `/${id}/inbox`
    const { conversations } = (await team(`${at}/conversations`)).body
    for (const conversation of conversations) {
      const { items } = (await team(`${at}/conversations/${conversation.id}/media?limit=50`)).body
      for (const { media } of items) {
        if (media.state !== 'here') continue
        assert.equal((await team(`${at}/media/${media.id}`)).status, 200)
        read++
      }
    }
  }
  assert.ok(read > 0)
}

/** Runs a command that starts the service, and resolves once the service has printed its address. */
export async function startInstalled(command: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawnShell(command, cwd, env)
  const gone = once(child, 'exit').then(([code]) => code as number | null)
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.resume()
    child.stderr.setEncoding('utf8').on('data', (text) => {
      printed += text
      if (printed.includes('Stop with Ctrl+C.')) resolve()
    })
    gone.then((code) => reject(new Error(`The command ended (${code}): ${printed}`)))
  })
  const stop = () => {
    endGroup(child)
    return gone
  }
  return { printed: () => printed, stop }
}

/** Starts a shell in a process group of its own, so that everything it leaves running ends with the test file. */
export function spawnShell(script: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn('bash', ['-ec', script], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = once(child, 'exit')
  atEnd(async () => {
    endGroup(child)
    await gone
  })
  return child
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? 0), 'SIGTERM')
  } catch {
    // All processes of the group have ended.
  }
}

/** Signs in with the link that a first start printed, and loads the inbox and the first script of the app. */
export async function openApp(port: number, printed: string): Promise<void> {
  const url = `http://127.0.0.1:${port}`
  const token = /\/sign-in\/(\S+)/.exec(printed)?.[1]
  const signedIn = await ask(url, '', 'POST /api/team/v1/sign-in/link', { token })
  assert.equal(signedIn.status, 200)
  const cookie = signedIn.headers.getSetCookie().map((one) => one.split(';')[0])
  const inbox = await fetch(`${url}/inbox`, { headers: { cookie: cookie.join('; ') } })
  assert.equal(inbox.status, 200)
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await inbox.text())?.[1] ?? ''
  assert.equal((await fetch(`${url}${script}`)).status, 200)
}
