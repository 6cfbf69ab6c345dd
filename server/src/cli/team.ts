import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Role, roles } from '../team/member.ts'
import { listWorkspaces, pickWorkspace, type TeamCall, type Workspace, withTeam, withWorkspace } from './team-call.ts'
import { printResult, table } from './terminal.ts'

interface WorkspaceOptions {
  owner?: string
  country?: string
  quota?: number
  json?: boolean
}

/** `parley workspace …` */
export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('create and list workspaces')
  workspace
    .command('create <name>')
    .description('create a workspace and invite its first owner')
    .option('-o, --owner <email>', 'invite this person as owner and print the link')
    .option('-c, --country <code>', 'country of national phone numbers, such as BR')
    .option('-q, --quota <leads>', 'new leads per UTC day; 0 is unlimited; default 100000', wholeNumber)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley workspace create "Acme Sales" --owner ana@example.com --country BR\n')
    .action(createWorkspace)
  workspace
    .command('quota <leads>')
    .description('set the quota of new leads per UTC day, and the limit that admins can set')
    .argument('[workspace]', 'id or name, required if there are several')
    .option('--json', 'print JSON')
    .addHelpText('after', '\n0 is unlimited.\n\nExample:\n  parley workspace quota 5000 "Acme Sales"\n')
    .action(setQuota)
  workspace
    .command('list')
    .description('list the workspaces of this installation')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley workspace list\n')
    .action(showWorkspaces)
}

async function createWorkspace(name: string, { owner, country, quota, json }: WorkspaceOptions): Promise<void> {
  const created = await withTeam(async (call) => {
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
    created.invitationUrl === null
      ? ['Invite its owner with: parley member invite <email> --role owner']
      : ['Invitation link for the owner (works once, for 7 days):', `  ${created.invitationUrl}`]
  printResult(json, created, [`Created workspace ${created.workspace.name}: ${created.workspace.id}`, ...next])
}

async function setQuota(leads: string, requested: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const quota = wholeNumber(leads)
  const changed = await withWorkspace(requested, async (call, place) => {
    const body = { dailyLeadQuota: quota, dailyLeadQuotaCeiling: quota }
    return call<{ workspace: Workspace }>('PATCH', place, body)
  })
  const quotaText = quota === 0 ? 'any number of' : `up to ${quota}`
  printResult(json, changed, [`${changed.workspace.name} can have ${quotaText} new leads a day.`])
}

async function showWorkspaces({ json }: { json?: boolean }): Promise<void> {
  const workspaces = await withTeam(listWorkspaces)
  const rows = workspaces.map(({ id, name, defaultCountry, createdAt }) => [id, defaultCountry ?? '-', createdAt, name])
  printResult(json, { workspaces }, table([['id', 'country', 'created', 'name'], ...rows]))
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

interface Member {
  userId: string
  name: string
  email: string
  role: Role
}

interface Link {
  url: string
  expiresAt?: string
}

/** `parley member …` */
export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('invite, list and sign in members')
  member
    .command('invite <email>')
    .description('create an invitation link to a workspace; send it to the person')
    .addOption(new Option('-r, --role <role>', 'role of the member').choices(roles).default('member'))
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley member invite ana@example.com --role admin\n')
    .action(inviteMember)
  member
    .command('list')
    .description('list the members of a workspace')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley member list\n')
    .action(listMembers)
  member
    .command('link [email]')
    .description('create a link that signs a user in once within 24 hours')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe e-mail can be omitted if there is only one user.\n\nExample:\n  parley member link ana@example.com\n',
    )
    .action(makeLink)
  member
    .command('sign-out <email>')
    .description('sign a user out of every browser, and void unused sign-in links')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nThe user can sign in again.\n\nExample:\n  parley member sign-out ana@example.com\n')
    .action(signOut)
}

async function inviteMember(
  email: string,
  { role, workspace, json }: { role: Role; workspace?: string; json?: boolean },
): Promise<void> {
  const invited = await withWorkspace(workspace, (call, place) =>
    call<Link>('POST', `${place}/invitations`, { email, role }),
  )
  printResult(json, invited, [invited.url, '', `Invitation link for ${email} as ${role}. It works once, for 7 days.`])
}

async function listMembers({ workspace, json }: { workspace?: string; json?: boolean }): Promise<void> {
  const found = await withWorkspace(workspace, (call, place) => call<{ members: Member[] }>('GET', `${place}/members`))
  const rows = found.members.map(({ userId, role, email, name }) => [userId, role, email, name])
  printResult(json, found, table([['id', 'role', 'e-mail', 'name'], ...rows]))
}

async function makeLink(email: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const created = await withTeam(async (call) =>
    call<Link>('POST', '/sign-in-links', { email: email ?? (await onlyEmail(call)) }),
  )
  printResult(json, created, [created.url, '', 'It works once, for 24 hours.'])
}

async function signOut(email: string, { json }: { json?: boolean }): Promise<void> {
  const done = await withTeam((call) => call<object>('POST', '/sessions/end-all', { email }))
  printResult(json, done, [
    `${email} was signed out everywhere. To block access to a workspace, also remove them from it.`,
  ])
}

async function onlyEmail(call: TeamCall): Promise<string> {
  const emails = new Set<string>()
  for (const { id } of await listWorkspaces(call)) {
    const { members } = await call<{ members: Member[] }>('GET', `/workspaces/${id}/members`)
    for (const member of members) emails.add(member.email)
  }
  const [email, other] = emails
  if (email === undefined) throw new Error('There are no members yet. Invite one with: parley member invite <email>')
  if (other !== undefined)
    throw new Error('There are several users. Specify the e-mail, such as parley member link ana@example.com')
  return email
}

interface TokenOptions {
  name: string
  role: Role
  workspace?: string
  everywhere?: boolean
  expires?: string
  json?: boolean
}

/** `parley token …` */
export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('create team tokens for programs that use the team API')
  token
    .command('create')
    .description('create a team token; its value is shown once')
    .option('-n, --name <name>', 'name of the token', 'Created on the command line')
    .addOption(new Option('-r, --role <role>', 'role of the token').choices(roles).default('member'))
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--everywhere', 'valid in every workspace')
    .option('--expires <time>', 'expiry time, such as 2027-01-31T00:00:00Z')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley token create --name "Nightly export" --role admin\n')
    .action(createToken)
}

async function createToken({ name, role, workspace, everywhere, expires, json }: TokenOptions): Promise<void> {
  const created = await withTeam(async (call) => {
    const place = everywhere ? '' : `/workspaces/${(await pickWorkspace(call, workspace)).id}`
    const body = { name, role, ...(expires !== undefined && { expiresAt: expires }) }
    return call<{ value: string }>('POST', `${place}/tokens`, body)
  })
  printResult(json, created, [
    created.value,
    '',
    `Its role is ${role} ${everywhere ? 'in every workspace' : 'in its workspace'}. You won't see this value again.`,
  ])
}
