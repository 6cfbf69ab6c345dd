import type { Db } from '../../server/src/base/db.ts'
import { type Comparison, type Course, compare, type Peer, type Result } from '../comparison.ts'
import { requestBytes } from '../load.ts'
import { printResults } from '../results-table.ts'
import { type BenchWorkspace, fillWorkspace } from '../workspace.ts'

const leads = 500

/** Compares an agent's call as a route and as a tool with the same query of the v1 API on the same node. */
export async function runAgentCalls(db: Db, workspace: BenchWorkspace, course: Course): Promise<Result[]> {
  await fillWorkspace(db, workspace.workspaceId, leads, () => {})
  const rows = await db.sql<{ id: string }[]>`
    select id from leads where workspace_id = ${workspace.workspaceId} order by id limit ${leads}`
  const ids = rows.map(({ id }) => id)
  const results: Result[] = []
  for (const contest of contests(course.product, workspace.key, (n) => ids[n % ids.length]))
    results.push(await compare({ ...contest, baselinePeer: course.product }, course))
  printResults(`calls of agents (${course.connections} connections)`, results, ['for agents', 'the contract'])
  return results
}

interface Call {
  headers: Record<string, string>
  body: object
}

function contests({ port }: Peer, key: string, idOf: (n: number) => string | undefined): Comparison[] {
  const headers = { authorization: `Bearer ${key}` }
  const baseline = (n: number) => requestBytes('GET', `/api/v1/leads/${idOf(n)}`, headers)
  const callOf = (n: number, ofRevision: { headers: object; params: object }): Call => {
    const params = { name: 'get_lead', arguments: { identifier: idOf(n) }, ...ofRevision.params }
    const accept = 'application/json, text/event-stream'
    return {
      headers: { ...headers, accept, ...ofRevision.headers },
      body: { jsonrpc: '2.0', id: n, method: 'tools/call', params },
    }
  }
  const asTool = (ofRevision: {
    headers: object
    params: object
  }): Pick<Comparison, 'product' | 'baseline' | 'prepare'> => ({
    product: (n) => {
      const call = callOf(n, ofRevision)
      return requestBytes('POST', '/mcp', call.headers, call.body)
    },
    baseline,
    prepare: () => expectLead(port, callOf(0, ofRevision)),
  })
  return [
    { name: 'get_lead as a route', product: (n) => requestBytes('GET', `/api/v2/leads/${idOf(n)}`, headers), baseline },
    { name: 'get_lead as an MCP tool, revision of 2026', ...asTool(newest) },
    { name: 'get_lead as an MCP tool, earlier revisions', ...asTool({ headers: {}, params: {} }) },
  ]
}

/** A tool that fails is also answered with 200. */
async function expectLead(port: number, { headers, body }: Call): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { result } = (await reply.json()) as { result?: { structuredContent?: { lead?: unknown } } }
  if (result?.structuredContent?.lead === undefined) throw new Error('The tool did not answer with a lead')
}

const revision = '2026-07-28'
const newest = {
  headers: { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': 'get_lead' },
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}
