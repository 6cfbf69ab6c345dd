import { type Command, InvalidArgumentError } from 'commander'
import { loadConfig } from '../config.ts'
import { listWorkspaces, pickWorkspace, type Workspace, withTeam } from './team-call.ts'
import { answer, table } from './terminal.ts'

interface CreateOptions {
  owner?: string
  country?: string
  quota?: number
  json?: boolean
}

/** `parley workspace …` */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('make and list workspaces')
  workspace
    .command('create <name>')
    .description('make a workspace, and invite its first owner')
    .option('-o, --owner <email>', 'invites this person as owner and prints the link')
    .option('-c, --country <code>', 'reads national phone numbers as numbers of this country, as in BR')
    .option('-q, --quota <leads>', 'new leads per UTC day; 0 is unlimited; 100000 when left out', wholeNumber)
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley workspace create "Acme Sales" --owner ana@example.com --country BR\n')
    .action(createWorkspace)
  workspace
    .command('quota <leads>')
    .description('set how many new leads a workspace may have per UTC day, and the most that its admins may set')
    .argument('[workspace]', 'id or name, needed when there are several')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\n0 is unlimited.\n\nExample:\n  parley workspace quota 5000 "Acme Sales"\n')
    .action(setQuota)
  workspace
    .command('list')
    .description('list the workspaces of this installation')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley workspace list\n')
    .action(showWorkspaces)
}

async function createWorkspace(name: string, { owner, country, quota, json }: CreateOptions): Promise<void> {
  const made = await withTeam(loadConfig(process.env), async (call) => {
    const { workspace } = await call<{ workspace: Workspace }>('POST', '/workspaces', {
      name,
      ...(country !== undefined && { defaultCountry: country.toUpperCase() }),
      ...(quota !== undefined && { dailyLeadQuota: quota }),
    })
    if (owner === undefined) return { workspace, invitationUrl: null }
    const body = { email: owner, role: 'owner' }
    const { url } = await call<{ url: string }>('POST', `/workspaces/${workspace.id}/invitations`, body)
    return { workspace, invitationUrl: url }
  })
  const next =
    made.invitationUrl === null
      ? ['Invite its owner with: parley member invite <email> --role owner']
      : ['The owner joins here (works once, for 7 days):', `  ${made.invitationUrl}`]
  answer(json, made, [`Workspace ${made.workspace.name} is made: ${made.workspace.id}`, ...next])
}

async function setQuota(leads: string, wanted: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const quota = wholeNumber(leads)
  const changed = await withTeam(loadConfig(process.env), async (call) => {
    const { id } = await pickWorkspace(call, wanted)
    const body = { dailyLeadQuota: quota, dailyLeadQuotaCeiling: quota }
    return call<{ workspace: Workspace }>('PATCH', `/workspaces/${id}`, body)
  })
  const words = quota === 0 ? 'any number of' : `up to ${quota}`
  answer(json, changed, [`${changed.workspace.name} may have ${words} new leads a day.`])
}

async function showWorkspaces({ json }: { json?: boolean }): Promise<void> {
  const workspaces = await withTeam(loadConfig(process.env), listWorkspaces)
  const rows = workspaces.map(({ id, name, defaultCountry, createdAt }) => [id, defaultCountry ?? '-', createdAt, name])
  answer(json, { workspaces }, table([['id', 'country', 'made', 'name'], ...rows]))
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
