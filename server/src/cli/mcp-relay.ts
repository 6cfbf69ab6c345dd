import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { describeProblem, say } from './terminal.ts'

/**
 * Passes messages on from standard input to the service, and its answers back, until the input ends. It knows no tool and no
 * revision of the protocol by itself, so that a service of another version is spoken to just as well.
 */
export async function relay(service: URL, key: string): Promise<void> {
  const stdio = new StdioServerTransport()
  const running = new Map<RequestId, AbortController>()
  const ended = Promise.withResolvers<void>()
  let handshakeVersion: string | undefined

  const pass = async (message: JSONRPCMessage) => {
    if (!('method' in message)) return
    if (!('id' in message)) {
      const id = message.method === 'notifications/cancelled' ? message.params?.requestId : undefined
      // The service hears of it by the end of the call itself: it keeps no session in which to look for one.
      if (typeof id === 'string' || typeof id === 'number') running.get(id)?.abort()
      return
    }
    const call = new AbortController()
    running.set(message.id, call)
    const answer = await ask(service, key, message, handshakeVersion, call.signal)
    running.delete(message.id)
    if (call.signal.aborted) return
    if (message.method === 'initialize') handshakeVersion = versionIn(answer)
    await stdio.send(answer)
  }

  stdio.onmessage = (message) => {
    pass(message).catch((error: unknown) => say(describeProblem(error)))
  }
  stdio.onerror = (error) => say(describeProblem(error))
  stdio.onclose = () => {
    for (const call of running.values()) call.abort()
    ended.resolve()
  }
  await stdio.start()
  await ended.promise
}

async function ask(
  service: URL,
  key: string,
  message: JSONRPCRequest,
  handshakeVersion: string | undefined,
  signal: AbortSignal,
): Promise<JSONRPCMessage> {
  try {
    const response = await fetch(service, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headersOf(message, handshakeVersion) },
      body: JSON.stringify(message),
      signal,
    })
    return (
      answerIn(await response.text(), message.id) ??
      failure(message.id, `${service.href} answered ${response.status}: is it Parley?`)
    )
  } catch (error) {
    return failure(message.id, `${service.href} cannot be reached. ${describeProblem(error)}`)
  }
}

/** The protocol's own headers, which repeat what stands in the message. */
function headersOf({ method, params }: JSONRPCRequest, handshakeVersion: string | undefined): Record<string, string> {
  const claimed = params?._meta?.[PROTOCOL_VERSION_META_KEY]
  const version = typeof claimed === 'string' ? claimed : handshakeVersion
  const name = params?.name ?? params?.uri
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-method': method,
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    ...(typeof name === 'string' && { 'mcp-name': headerText(name) }),
  }
}

/** As it is, or as the protocol wraps what no header can hold. */
const headerText = (text: string): string =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** The message in an answer; a refusal before it was read has no id, and gets that of the request. */
function answerIn(text: string, id: RequestId): JSONRPCMessage | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return parseJSONRPCMessage(
      typeof answer === 'object' && answer !== null && 'id' in answer && answer.id === null
        ? { ...answer, id }
        : answer,
    )
  } catch {
    return undefined
  }
}

const failure = (id: RequestId, message: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32000, message },
})

function versionIn(answer: JSONRPCMessage): string | undefined {
  const version = 'result' in answer ? answer.result.protocolVersion : undefined
  return typeof version === 'string' ? version : undefined
}
