// An agent that uses MCP with its official client. Rules stand in for a model that chooses tools. Run
// npm install @modelcontextprotocol/client, then PARLEY_URL=… PARLEY_API_KEY=… node mcp-agent.js
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const { PARLEY_URL = 'http://127.0.0.1:7007', PARLEY_API_KEY = '' } = process.env
const client = new Client({ name: 'mcp-agent', version: '1.0.0' })
const headers = { authorization: `Bearer ${PARLEY_API_KEY}` }
await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', PARLEY_URL), { requestInit: { headers } }))

// The context of a model: tools, instructions, and the team's instructions.
const { tools } = await client.listTools()
const { messages } = await client.getPrompt({ name: 'answer_next_customer' })
let { instructions } = await call('who_am_i')
const contextNow = () => JSON.stringify([client.getInstructions(), messages, instructions, tools])

for (let cursor; ; ) {
  const found = await call('wait_for_work', cursor === undefined ? {} : { cursor })
  // The team has published new ones.
  if (found.instructions_version > instructions.version) instructions = (await call('who_am_i')).instructions
  const context = contextNow()
  for (const work of found.work ?? []) {
    const { tool, input } = choose(context, work, found.is_open)
    await call(tool, { conversation_id: work.conversation.id, ...input })
  }
  cursor = found.next_cursor ?? cursor
}

/**
 * Stands in for a model, which would read the context and treat customer texts as data.
 * @param {string} _context @param {any} work @param {boolean | null} isOpen
 */
function choose(_context, { why, messages, handover }, isOpen) {
  if (why === 'given_to_you' && handover?.next_step) return { tool: 'answer', input: { text: handover.next_step } }
  const asked = messages.flatMap((/** @type {any} */ { customer_text }) => customer_text ?? []).at(-1) ?? ''
  if (/\b(ship|deliver|delivery)\b/i.test(asked)) {
    return { tool: 'answer', input: { text: 'We ship to all of Brazil, in two to five days.' } }
  }
  const closing = isOpen === false ? 'A colleague will help you as soon as we open.' : 'A colleague will help you.'
  const summary = `Asks: “${asked}”`.slice(0, 4000)
  return { tool: 'hand_over', input: { summary, reason: 'I do not know the answer.', closing } }
}

/**
 * Returns errors that say what to do, such as to leave a conversation alone; retries if it must wait.
 * @param {string} name @param {object} input @returns {Promise<any>}
 */
async function call(name, input = {}) {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: { ...input } })
  if (!isError) return structuredContent
  const [first] = content
  const problem = first?.type === 'text' ? JSON.parse(first.text) : {}
  if ([409, 422].includes(problem.status)) return problem
  if (problem.retry_after_seconds === undefined) throw new Error(`${name}: ${problem.detail}`)
  await new Promise((resolve) => setTimeout(resolve, problem.retry_after_seconds * 1000))
  return call(name, input)
}
