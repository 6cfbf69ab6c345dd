import type { Sql } from '../base/db.ts'
import { InvalidInput, type Issue } from '../base/errors.ts'
import { normalizeLanguage } from '../channels/templates/templates.ts'
import { hasUnknownPlaceholder, textsOf } from './fill-step.ts'
import type { SequenceDraft, Step } from './sequence-schema.ts'

type Named = Pick<SequenceDraft, 'connectionId' | 'steps' | 'formIds' | 'labelIds'>

/** Throws 400 with every field that is wrong, or names what does not exist. */
export async function validateSequence(sql: Sql, workspaceId: string, draft: SequenceDraft): Promise<void> {
  const issues = draft.steps.flatMap((step, n) => stepIssues(step, n))
  if (issues.length > 0) throw new InvalidInput(issues)
  const missing = await findMissing(sql, workspaceId, draft)
  if (missing.length === 0) return
  throw new InvalidInput(
    missing.map((path) => ({ path, message: `must be the id of ${thingOf(path)} of the workspace` })),
  )
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
  if (sequences.length === 0) return []
  const [known, approved] = await Promise.all([
    readKnown(sql, workspaceId, sequences),
    readApproved(
      sql,
      workspaceId,
      sequences.map(({ connectionId }) => connectionId),
    ),
  ])
  return sequences.map((sequence) => [...missingIn(sequence, known), ...unsendableIn(sequence, approved)])
}

const findMissing = async (sql: Sql, workspaceId: string, named: Named): Promise<string[]> =>
  missingIn(named, await readKnown(sql, workspaceId, [named]))

/** Returns which of the connections, forms and labels that these name exist. */
async function readKnown(sql: Sql, workspaceId: string, named: readonly Named[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from connections
    where workspace_id = ${workspaceId} and id = any (${named.map(({ connectionId }) => connectionId)}::uuid[])
      and removed_at is null
    union all
    select id from forms
    where workspace_id = ${workspaceId} and id = any (${named.flatMap(({ formIds }) => formIds)}::uuid[])
    union all
    select id from labels
    where workspace_id = ${workspaceId} and id = any (${named.flatMap(({ labelIds }) => labelIds)}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}

function missingIn({ connectionId, formIds, labelIds }: Named, known: ReadonlySet<string>): string[] {
  const missing = (ids: readonly string[], field: string) =>
    ids.flatMap((id, n) => (known.has(id) ? [] : [`${field}[${n}]`]))
  return [
    ...(known.has(connectionId) ? [] : ['connectionId']),
    ...missing(formIds, 'formIds'),
    ...missing(labelIds, 'labelIds'),
  ]
}

interface Needs {
  values: number
  hasFile: boolean
}

/** Returns what the approved templates of these connections need. */
async function readApproved(
  sql: Sql,
  workspaceId: string,
  connectionIds: readonly string[],
): Promise<ReadonlyMap<string, Needs>> {
  const rows = await sql<(Needs & { key: string })[]>`
    select connection_id || ' ' || name || ' ' || language as key, parameter_count as values,
      header is not null as "hasFile"
    from templates
    where workspace_id = ${workspaceId}
      and connection_id = any (${[...new Set(connectionIds)]}::uuid[])
      and status = 'APPROVED'`
  return new Map(rows.map(({ key, ...needs }) => [key, needs]))
}

/** Templates that are not approved, or get another number of values, or not the file that they need. */
function unsendableIn({ connectionId, steps }: Named, approved: ReadonlyMap<string, Needs>): string[] {
  return steps.flatMap(({ template }, n) => {
    if (template === undefined) return []
    const needs = approved.get(`${connectionId} ${template.name} ${normalizeLanguage(template.language)}`)
    if (needs === undefined) return [`steps[${n}].template.name`]
    return [
      ...(needs.values === (template.body_params ?? []).length ? [] : [`steps[${n}].template.body_params`]),
      ...(needs.hasFile === (template.header_url !== undefined) ? [] : [`steps[${n}].template.header_url`]),
    ]
  })
}
