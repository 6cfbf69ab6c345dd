import type { Sql } from '../base/db.ts'
import { InvalidInput, type Issue } from '../base/errors.ts'
import { findTemplate } from '../channels/templates/templates.ts'
import { hasUnknownPlaceholder, textsOf } from './fill-step.ts'
import type { SequenceDraft, Step } from './sequence-schema.ts'

type Named = Pick<SequenceDraft, 'connectionId' | 'steps' | 'formIds' | 'labelIds'>

/** Throws 400 with every field that is wrong, or names what does not exist. */
export async function validateSequence(sql: Sql, workspaceId: string, draft: SequenceDraft): Promise<void> {
  const issues = draft.steps.flatMap((step, n) => stepIssues(step, n))
  if (issues.length > 0) throw new InvalidInput(issues)
  const missing = await findMissing(sql, workspaceId, draft)
  if (missing.length === 0) return
  throw new InvalidInput(missing.map((path) => ({ path, message: `must be the id of ${thingOf(path)} of the workspace` })))
}

const thingOf = (path: string): string => {
  if (path === 'connectionId') return 'a connection'
  return path.startsWith('formIds') ? 'a form' : 'a label'
}

function stepIssues(step: Step, n: number): Issue[] {
  const at = `steps[${n}]`
  const issues: Issue[] = []
  if ((step.text === undefined) === (step.template === undefined)) {
    issues.push({ path: `${at}.text`, message: 'or template is required, not both' })
  }
  if (n > 0 && step.waitMinutes === 0) issues.push({ path: `${at}.waitMinutes`, message: 'must be at least 1' })
  for (const { path, text } of textsOf(step)) {
    if (!hasUnknownPlaceholder(text)) continue
    const message = 'contains a placeholder that does not exist; use {{contact.first_name}}, for example'
    issues.push({ path: `${at}.${path}`, message })
  }
  return issues
}

/** Returns for each of these sequences the paths of what they name and cannot be sent or no longer exists. */
export async function findProblems(sql: Sql, workspaceId: string, sequences: readonly Named[]): Promise<string[][]> {
  return Promise.all(
    sequences.map(async (sequence) => [
      ...(await findMissing(sql, workspaceId, sequence)),
      ...(await findUnsendable(sql, workspaceId, sequence)),
    ]),
  )
}

async function findMissing(sql: Sql, workspaceId: string, named: Named): Promise<string[]> {
  const { connectionId, formIds, labelIds } = named
  const rows = await sql<{ id: string }[]>`
    select id from connections
    where workspace_id = ${workspaceId} and id = ${connectionId} and removed_at is null
    union all
    select id from forms
    where workspace_id = ${workspaceId} and id = any (${formIds}::uuid[])
    union all
    select id from labels
    where workspace_id = ${workspaceId} and id = any (${labelIds}::uuid[])`
  const found = new Set(rows.map(({ id }) => id))
  const missing = (ids: readonly string[], field: string) =>
    ids.flatMap((id, n) => (found.has(id) ? [] : [`${field}[${n}]`]))
  return [
    ...(found.has(connectionId) ? [] : ['connectionId']),
    ...missing(formIds, 'formIds'),
    ...missing(labelIds, 'labelIds'),
  ]
}

/** Templates that are not approved, or get another number of values. */
async function findUnsendable(sql: Sql, workspaceId: string, { connectionId, steps }: Named): Promise<string[]> {
  const paths = await Promise.all(
    steps.map(async ({ template }, n) => {
      if (template === undefined) return []
      const found = await findTemplate(sql, workspaceId, connectionId, template.name, template.language)
      if (found?.status !== 'APPROVED') return [`steps[${n}].template.name`]
      return found.parameterCount === (template.body_params ?? []).length ? [] : [`steps[${n}].template.body_params`]
    }),
  )
  return paths.flat()
}
