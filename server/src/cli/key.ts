import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { type Command, Option } from 'commander'
import { isPurpose, type Purpose, purposes, scopes } from '../auth/api-keys/caller.ts'
import { withWorkspace } from './team-call.ts'
import { printResult, table } from './terminal.ts'

interface Key {
  id: string
  name: string
  shown: string
  scopes: string[]
  answersNewConversations: boolean
  status: string
}

interface CreateOptions {
  name: string
  workspace?: string
  for?: string
  scope?: string[]
  newConversations: boolean
  allow?: string[]
  masked?: boolean
  expires?: string
  json?: boolean
}

const workspaceOption = ['-w, --workspace <id or name>', 'required if there are several'] as const
const jsonOption = ['--json', 'print JSON'] as const
const collect = (value: string, before: string[] = []) => [...before, value]

/** `parley key …` */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('create, list and revoke API keys')
  key
    .command('create')
    .description('create an API key; its value is shown once')
    .option('-n, --name <name>', 'name of the key', 'Created on the command line')
    .option(...workspaceOption)
    .addOption(
      new Option('-f, --for <purpose>', 'purpose of the key, which determines its scopes').choices(purposeNames),
    )
    .addOption(
      new Option('-s, --scope <scope>', `instead of --for: one of ${scopes.join(', ')}; can be repeated`)
        .argParser(collect)
        .conflicts('for'),
    )
    .option('--no-new-conversations', 'do not assign new conversations to this key')
    .option('--allow <address>', 'address or CIDR range from which it can be used; can be repeated', collect)
    .option('--masked', 'show phones masked to this key')
    .option('--expires <time>', 'expiry time, such as 2027-01-31T00:00:00Z')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  parley key create --name "CRM sync" --for syncing\n')
    .action(createKey)
  key
    .command('list')
    .description('list the API keys of a workspace, without their values')
    .option(...workspaceOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  parley key list --json\n')
    .action(listKeys)
  key
    .command('revoke <id>')
    .description('revoke an API key permanently')
    .option(...workspaceOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  parley key revoke 01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e\n')
    .action(revokeKey)
}

async function createKey(options: CreateOptions): Promise<void> {
  const { name, allow, masked, expires, json } = options
  const rights = await resolvePermissions(options, { input: process.stdin, output: process.stderr })
  const created = await withWorkspace(options.workspace, async (call, place, workspace) => {
    const { key, value } = await call<{ key: Key; value: string }>('POST', `${place}/keys`, {
      name,
      ...rights,
      ...(!options.newConversations && { answersNewConversations: false }),
      ...(allow !== undefined && { allowlist: allow }),
      ...(masked && { phoneVisibility: 'masked' }),
      ...(expires !== undefined && { expiresAt: expires }),
    })
    return { key, value, minutes: workspace.agentWatchdogMinutes }
  })
  const { key, value } = created
  const lines = [`Scopes: ${key.scopes.join(', ')}. You won't see this value again.`]
  if (key.answersNewConversations) lines.push(describeAssignment(created.minutes))
  printResult(json, { key, value }, [value, '', ...lines])
}

function describeAssignment(minutes: number | null): string {
  const first = 'New conversations are assigned to this key if it is the oldest one that replies to them.'
  const afterwards = minutes === null ? 'they stay with it' : `they are assigned to the team after ${minutes} minutes`
  return `${first} If it does not reply, ${afterwards}.`
}

async function listKeys({ workspace, json }: { workspace?: string; json?: boolean }): Promise<void> {
  const found = await withWorkspace(workspace, (call, place) => call<{ keys: Key[] }>('GET', `${place}/keys`))
  const rows = found.keys.map((key) => [key.id, key.shown, key.status, key.name, key.scopes.join(' ')])
  printResult(json, found, table([['id', 'key', 'status', 'name', 'scopes'], ...rows]))
}

async function revokeKey(keyId: string, { workspace, json }: { workspace?: string; json?: boolean }): Promise<void> {
  const revoked = await withWorkspace(workspace, (call, place) =>
    call<{ key: Key }>('DELETE', `${place}/keys/${encodeURIComponent(keyId)}`),
  )
  printResult(json, revoked, [`${revoked.key.name} (${revoked.key.shown}) no longer works.`])
}

const purposeLabels: Record<Purpose, string> = {
  replying: 'an agent that replies to customers, and reads and updates leads',
  syncing: 'a program that imports leads and keeps them up to date',
  reading: 'a program that reads leads and conversations without changing them',
}

const purposeNames = Object.keys(purposes) as Purpose[]

/** Permissions of a key: the given scopes, or those of its purpose. */
interface KeyPermissions {
  scopes: readonly string[]
  answersNewConversations?: boolean
}

interface Terminal {
  input: Readable & { isTTY?: boolean }
  output: Writable
}

/**
 * Returns the permissions of a new key. Without scopes or a purpose, asks a person at a terminal and throws otherwise,
 * so that no key gets permissions that nobody chose.
 */
export async function resolvePermissions(
  chosen: { for?: string; scope?: readonly string[] },
  terminal: Terminal,
): Promise<KeyPermissions> {
  if (chosen.scope !== undefined) return { scopes: chosen.scope }
  if (chosen.for !== undefined && isPurpose(chosen.for)) return purposes[chosen.for]
  if (terminal.input.isTTY !== true) {
    throw new Error(
      `--for or --scope is required. Set the purpose with --for, or each scope with --scope.\n${purposeOptions().join('\n')}`,
    )
  }
  return purposes[await askPurpose(terminal)]
}

const purposeOptions = () => purposeNames.map((name) => `  --for ${name.padEnd(10)} ${purposeLabels[name]}`)

async function askPurpose({ input, output }: Terminal): Promise<Purpose> {
  const list = purposeNames.map((name, n) => `  ${n + 1}  ${name}: ${purposeLabels[name]}\n`).join('')
  const prompt = `1 to ${purposeNames.length}: `
  output.write(`What is the key for?\n${list}${prompt}`)
  for await (const line of createInterface({ input })) {
    const typed = line.trim().toLowerCase()
    const purpose = purposeNames[Number(typed) - 1] ?? typed
    if (isPurpose(purpose)) return purpose
    output.write(prompt)
  }
  throw new Error('--for is required')
}
