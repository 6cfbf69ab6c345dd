import type { Command } from 'commander'
import { scopes } from '../access/scopes.ts'
import { loadConfig } from '../config.ts'
import { pickWorkspace } from './pick-workspace.ts'
import { withTeam } from './team-call.ts'
import { answer, table } from './terminal.ts'

interface Key {
  id: string
  name: string
  shown: string
  scopes: string[]
  status: string
}

interface CreateOptions {
  name: string
  workspace?: string
  scope?: string[]
  allow?: string[]
  masked?: boolean
  expires?: string
  json?: boolean
}

const workspaceOption = ['-w, --workspace <id or name>', 'needed when there are several'] as const
const jsonOption = ['--json', 'answer with JSON'] as const
const collect = (value: string, before: string[] = []) => [...before, value]

/** `parley key …` */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('make, list and revoke API keys')
  key
    .command('create')
    .description('make an API key; its value is shown once')
    .option('-n, --name <name>', 'what the key is for', 'Made on the command line')
    .option(...workspaceOption)
    .option('-s, --scope <scope>', `one of ${scopes.join(', ')}; may be repeated; all when left out`, collect)
    .option('--allow <address>', 'an address or CIDR range that may use it; may be repeated', collect)
    .option('--masked', 'show phones masked to this key')
    .option('--expires <time>', 'when it stops working, as in 2027-01-31T00:00:00Z')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  parley key create --name "CRM sync" --scope leads.read --scope leads.write\n')
    .action(createKey)
  key
    .command('list')
    .description('list the API keys of a workspace, never their values')
    .option(...workspaceOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  parley key list --json\n')
    .action(listKeys)
  key
    .command('revoke <id>')
    .description('end an API key for good')
    .option(...workspaceOption)
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  parley key revoke 01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e\n')
    .action(revokeKey)
}

async function createKey(options: CreateOptions): Promise<void> {
  const { name, scope, allow, masked, expires, json } = options
  const made = await withTeam(loadConfig(process.env), async (call) => {
    const { id } = await pickWorkspace(call, options.workspace)
    return call<{ key: Key; value: string }>('POST', `/workspaces/${id}/keys`, {
      name,
      scopes: scope ?? scopes,
      ...(allow !== undefined && { allowlist: allow }),
      ...(masked && { phoneVisibility: 'masked' }),
      ...(expires !== undefined && { expiresAt: expires }),
    })
  })
  answer(json, made, [made.value, '', `Scopes: ${made.key.scopes.join(', ')}. The value is not shown again.`])
}

async function listKeys({ workspace, json }: { workspace?: string; json?: boolean }): Promise<void> {
  const found = await withTeam(loadConfig(process.env), async (call) => {
    const { id } = await pickWorkspace(call, workspace)
    return call<{ keys: Key[] }>('GET', `/workspaces/${id}/keys`)
  })
  const rows = found.keys.map((key) => [key.id, key.shown, key.status, key.name, key.scopes.join(' ')])
  answer(json, found, table([['id', 'key', 'status', 'name', 'scopes'], ...rows]))
}

async function revokeKey(keyId: string, { workspace, json }: { workspace?: string; json?: boolean }): Promise<void> {
  const revoked = await withTeam(loadConfig(process.env), async (call) => {
    const { id } = await pickWorkspace(call, workspace)
    return call<{ key: Key }>('DELETE', `/workspaces/${id}/keys/${encodeURIComponent(keyId)}`)
  })
  answer(json, revoked, [`${revoked.key.name} (${revoked.key.shown}) no longer works.`])
}
