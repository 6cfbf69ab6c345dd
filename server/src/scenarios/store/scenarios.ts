import { type Sql, type Tx, violates } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, notFound } from '../../base/errors.ts'

/** A scenario that the workspace keeps. */
export interface StoredScenario {
  id: string
  name: string
  /** JSON, as it was written. */
  text: string
  version: number
  createdAt: Date
  updatedAt: Date
}

export const maxScenarios = 200

interface ScenarioRow extends Omit<StoredScenario, 'text'> {
  content: Buffer
}

const placeOf = (id: string) => ({ table: 'scenarios', row: id, column: 'content' })

const open = (keyring: Keyring, { content, ...row }: ScenarioRow): StoredScenario => ({
  ...row,
  text: keyring.decryptText(placeOf(row.id), content),
})

/** Returns the scenarios of a workspace by name; with `ids` only these. */
export async function listScenarios(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  ids: readonly string[] | null = null,
): Promise<StoredScenario[]> {
  const rows = await sql<ScenarioRow[]>`
    select id, name, content, version, created_at as "createdAt", updated_at as "updatedAt"
    from scenarios
    where workspace_id = ${workspaceId}
      and (${ids === null}::boolean or id = any (${[...(ids ?? [])]}::uuid[]))
    order by name`
  return rows.map((row) => open(keyring, row))
}

/** Stores a new scenario. Throws 409 if the name is taken or the workspace has too many. */
export async function insertScenario(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  scenario: Pick<StoredScenario, 'id' | 'name' | 'text'>,
  now: Date,
): Promise<void> {
  const [{ count = 0 } = {}] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from scenarios
    where workspace_id = ${workspaceId}`
  if (count >= maxScenarios) throw conflict(`A workspace has at most ${maxScenarios} scenarios. Delete some first.`)
  const sealed = keyring.encrypt(placeOf(scenario.id), scenario.text)
  await explainTaken(
    tx`
      insert into scenarios (workspace_id, id, name, content, version, created_at, updated_at)
      values (${workspaceId}, ${scenario.id}, ${scenario.name}, ${sealed}, 1, ${now}, ${now})`,
  )
}

/** Replaces the text of a version. Throws 404, and 409 if someone else has changed it or the name is taken. */
export async function updateScenario(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  scenario: Pick<StoredScenario, 'id' | 'name' | 'text' | 'version'>,
  now: Date,
): Promise<void> {
  const sealed = keyring.encrypt(placeOf(scenario.id), scenario.text)
  const rows = await explainTaken(
    tx`
      update scenarios
      set name = ${scenario.name},
        content = ${sealed},
        version = version + 1,
        updated_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${scenario.id}
        and version = ${scenario.version}
      returning id`,
  )
  if (rows.length > 0) return
  const known = await tx`
    select id
    from scenarios
    where workspace_id = ${workspaceId}
      and id = ${scenario.id}`
  if (known.length === 0) throw scenarioNotFound()
  throw conflict('Someone else has changed this scenario. Copy your text, and open it again.', { field: 'version' })
}

async function explainTaken<T>(work: PromiseLike<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (violates(error, 'scenarios_workspace_id_name_key')) {
      throw conflict('A scenario with this name already exists', { field: 'name' }, error)
    }
    throw error
  }
}

export async function deleteScenario(tx: Tx, workspaceId: string, id: string): Promise<void> {
  const rows = await tx`
    delete from scenarios
    where workspace_id = ${workspaceId}
      and id = ${id}
    returning id`
  if (rows.length === 0) throw scenarioNotFound()
}

export const scenarioNotFound = () => notFound('Scenario not found')
