import { runImports } from '../../../src/leads/transfer/import/run-import.ts'
import { type Answer, testTeamToken, type World, type WorldOptions, world } from '../world.ts'

interface ImportRequest {
  match: string
  format?: 'csv' | 'ndjson'
  [option: string]: unknown
}

export interface ImportWorld extends World {
  /** Calls the team API of the workspace as an operator. */
  team(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Answer>
  /** Creates an import and uploads this text completely; returns its id. */
  upload(text: string | Buffer, format?: 'csv' | 'ndjson'): Promise<string>
  /** Uploads, starts and runs an import; returns it in its final state. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  importAll(text: string | Buffer, request: ImportRequest): Promise<any>
  /** Runs pending imports. */
  work(): Promise<number>
  refusedFile(id: string): Promise<string>
  /** Returns every live lead, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  leads(): Promise<any[]>
}

/** Creates an import with a completely uploaded file; returns its id. */
export async function uploadFile(w: Pick<World, 'call' | 'workspaceId'>, text: string | Buffer, format = 'csv') {
  const [key, path, raw] = [testTeamToken, `/api/team/v1/workspaces/${w.workspaceId}/lead-imports`, Buffer.from(text)]
  const made = await w.call('POST', path, { key, body: { fileName: `leads.${format}`, size: raw.length, format } })
  const { id } = made.body.import
  const headers = { 'content-type': 'application/octet-stream' }
  const put = await w.call('PUT', `${path}/${id}/content?offset=0`, { key, raw, headers })
  if (put.status !== 200) throw new Error(`Not uploaded: ${JSON.stringify(put.body)}`)
  return id as string
}

export async function importWorld(options: WorldOptions = {}): Promise<ImportWorld> {
  const w = await world(options)
  const base = `/api/team/v1/workspaces/${w.workspaceId}`
  const team: ImportWorld['team'] = (method, path, body) =>
    w.call(method, base + path, { key: testTeamToken, ...(body === undefined ? {} : { body }) })
  const upload: ImportWorld['upload'] = (text, format) => uploadFile(w, text, format)
  const work = () => runImports(w, new AbortController().signal)
  return {
    ...w,
    team,
    upload,
    work,
    importAll: async (text, { format = 'csv', ...request }) => {
      const id = await upload(text, format)
      const started = await team('POST', `/lead-imports/${id}/start`, request)
      if (started.status !== 200) throw new Error(`Not started: ${JSON.stringify(started.body)}`)
      await work()
      return (await team('GET', `/lead-imports/${id}`)).body.import
    },
    refusedFile: async (id) => (await team('GET', `/lead-imports/${id}/refused`)).body,
    leads: async () => {
      const query = { limit: '100', sortOrder: 'asc' }
      return (await w.call('GET', '/api/v1/leads', { query })).body.data
    },
  }
}
