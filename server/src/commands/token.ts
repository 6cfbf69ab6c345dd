import { type Command, Option } from 'commander'
import { loadConfig } from '../config.ts'
import { type Role, roles } from '../team/member.ts'
import { pickWorkspace } from './pick-workspace.ts'
import { withTeam } from './team-call.ts'
import { answer } from './terminal.ts'

interface CreateOptions {
  name: string
  role: Role
  workspace?: string
  everywhere?: boolean
  expires?: string
  json?: boolean
}

/** `parley token …` */
export function addTokenCommands(program: Command): void {
  const token = program.command('token').description('make team tokens, with which programs use the team API')
  token
    .command('create')
    .description('make a team token; its value is shown once')
    .option('-n, --name <name>', 'what the token is for', 'Made on the command line')
    .addOption(new Option('-r, --role <role>', 'what it may do').choices(roles).default('member'))
    .option('-w, --workspace <id or name>', 'needed when there are several')
    .option('--everywhere', 'let it work in every workspace')
    .option('--expires <time>', 'when it stops working, as in 2027-01-31T00:00:00Z')
    .option('--json', 'answer with JSON')
    .addHelpText('after', '\nExample:\n  parley token create --name "Nightly export" --role admin\n')
    .action(createToken)
}

async function createToken({ name, role, workspace, everywhere, expires, json }: CreateOptions): Promise<void> {
  const made = await withTeam(loadConfig(process.env), async (call) => {
    const place = everywhere ? '' : `/workspaces/${(await pickWorkspace(call, workspace)).id}`
    const body = { name, role, ...(expires !== undefined && { expiresAt: expires }) }
    return call<{ value: string }>('POST', `${place}/tokens`, body)
  })
  answer(json, made, [
    made.value,
    '',
    `It acts as ${role} ${everywhere ? 'everywhere' : 'in its workspace'}, and is not shown again.`,
  ])
}
