import { type Command, Option } from 'commander'
import { loadConfig } from '../config.ts'
import { type Role, roles } from '../team/member.ts'
import { listWorkspaces, pickWorkspace, type TeamCall, withTeam } from './team-call.ts'
import { answer, table } from './terminal.ts'

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
  const member = program.command('member').description('invite and list people, and let them in')
  member
    .command('invite <email>')
    .description('make a link by which a person joins a workspace; pass it on')
    .addOption(new Option('-r, --role <role>', 'what they may do').choices(roles).default('member'))
    .option('-w, --workspace <id or name>', 'needed when there are several')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley member invite ana@example.com --role admin\n')
    .action(inviteMember)
  member
    .command('list')
    .description('list the members of a workspace')
    .option('-w, --workspace <id or name>', 'needed when there are several')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley member list\n')
    .action(listMembers)
  member
    .command('link [email]')
    .description('make a link that signs a user in, once, within 24 hours')
    .option('--json', 'answer with JSON')
    .addHelpText(
      'after',
      '\nThe e-mail may be left out while there is one user.\n\nExample:\n  parley member link ana@example.com\n',
    )
    .action(makeLink)
  member
    .command('sign-out <email>')
    .description('sign a user out of every browser, and void unused sign-in links')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nThey may sign in again.\n\nExample:\n  parley member sign-out ana@example.com\n')
    .action(signOut)
}

async function inviteMember(
  email: string,
  { role, workspace, json }: { role: Role; workspace?: string; json?: boolean },
): Promise<void> {
  const invited = await withTeam(loadConfig(process.env), async (call) => {
    const { id } = await pickWorkspace(call, workspace)
    return call<Link>('POST', `/workspaces/${id}/invitations`, { email, role })
  })
  answer(json, invited, [invited.url, '', `${email} joins here as ${role}. It works once, for 7 days.`])
}

async function listMembers({ workspace, json }: { workspace?: string; json?: boolean }): Promise<void> {
  const found = await withTeam(loadConfig(process.env), async (call) => {
    const { id } = await pickWorkspace(call, workspace)
    return call<{ members: Member[] }>('GET', `/workspaces/${id}/members`)
  })
  const rows = found.members.map(({ userId, role, email, name }) => [userId, role, email, name])
  answer(json, found, table([['id', 'role', 'e-mail', 'name'], ...rows]))
}

async function makeLink(email: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const made = await withTeam(loadConfig(process.env), async (call) =>
    call<Link>('POST', '/sign-in-links', { email: email ?? (await onlyEmail(call)) }),
  )
  answer(json, made, [made.url, '', 'It works once, for 24 hours.'])
}

async function signOut(email: string, { json }: { json?: boolean }): Promise<void> {
  const done = await withTeam(loadConfig(process.env), (call) => call<object>('POST', '/sessions/end-all', { email }))
  answer(json, done, [
    `${email} is signed out everywhere. To keep them out of a workspace, remove them from it as well.`,
  ])
}

async function onlyEmail(call: TeamCall): Promise<string> {
  const emails = new Set<string>()
  for (const { id } of await listWorkspaces(call)) {
    const { members } = await call<{ members: Member[] }>('GET', `/workspaces/${id}/members`)
    for (const member of members) emails.add(member.email)
  }
  const [email, other] = emails
  if (email === undefined) throw new Error('Nobody has joined yet. Invite somebody with: parley member invite <email>')
  if (other !== undefined)
    throw new Error('There are several users: name one by e-mail, as in parley member link ana@example.com')
  return email
}
