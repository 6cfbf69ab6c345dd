import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Hands one message to a server of its own, and sends what it answers, in whichever revision of the protocol the client speaks. */
export async function exchange(
  server: Server,
  url: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const gone = new AbortController()
  const hungUp = new Promise<Response>((resolve) => {
    reply.raw.once('close', () => {
      gone.abort()
      resolve(new Response(null, { status: 499 }))
    })
  })
  const asked = new Request(url, { method: 'POST', headers: protocolHeaders(request), signal: gone.signal })
  const parsedBody = request.body ?? null
  const answering = (await isLegacyRequest(asked, parsedBody))
    ? answerLegacy(server, asked, parsedBody)
    : createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 }).fetch(asked, { parsedBody })
  return reply.send(await Promise.race([answering, hungUp]))
}

// As one JSON body, also for revisions that prefer a stream: a wait is shorter than what any proxy cuts.
async function answerLegacy(server: Server, asked: Request, parsedBody: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  asked.signal.addEventListener('abort', () => server.close())
  return transport.handleRequest(asked, { parsedBody })
}

/** What the protocol reads, and never the key. Whatever a client says it accepts, it gets JSON. */
function protocolHeaders({ headers }: FastifyRequest): Record<string, string> {
  const names = Object.keys(headers).filter((name) => name.startsWith('mcp-'))
  const passed = names.map((name): [string, string] => [name, String(headers[name])])
  return {
    ...Object.fromEntries(passed),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
}
