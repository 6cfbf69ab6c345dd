import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { describeProblem, printMessage } from './terminal.ts'

/**
 * Relays messages from standard input to the service, and its responses back, until the input ends. It is independent
 * of tools and protocol revisions, so it works with a service of another version.
 */
export async function relay(service: URL, key: string): Promise<void> {
  const stdio = new StdioServerTransport()
  const running = new Map<RequestId, AbortController>()
  const ended = Promise.withResolvers<void>()
  let handshakeVersion: string | undefined

  const relayMessage = async (message: JSONRPCMessage) => {
    if (!('method' in message)) return
    if (!('id' in message)) {
      const id = message.method === 'notifications/cancelled' ? message.params?.requestId : undefined
      // The service learns of it because the request is aborted: it has no session in which to find the call.
      if (typeof id === 'string' || typeof id === 'number') running.get(id)?.abort()
      return
    }
    const call = new AbortController()
    running.set(message.id, call)
    const answer = await sendMessage(service, key, message, handshakeVersion, call.signal)
    running.delete(message.id)
    if (call.signal.aborted) return
    if (message.method === 'initialize') handshakeVersion = versionOf(answer)
    await stdio.send(answer)
  }

  stdio.onmessage = (message) => {
    relayMessage(message).catch((error: unknown) => printMessage(describeProblem(error)))
  }
  stdio.onerror = (error) => printMessage(describeProblem(error))
  stdio.onclose = () => {
    for (const call of running.values()) call.abort()
    ended.resolve()
  }
  await stdio.start()
  await ended.promise
}

async function sendMessage(
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
      parseResponse(await response.text(), message.id) ??
      errorResponse(message.id, `${service.href} answered ${response.status}: is it Parley?`)
    )
  } catch (error) {
    return errorResponse(message.id, `${service.href} cannot be reached. ${describeProblem(error)}`)
  }
}

/** Returns the protocol's headers, which repeat parts of the message. */
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

/** Returns the text as it is, or encoded as the protocol specifies if it is not valid in a header. */
const headerText = (text: string): string =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** Parses the message in a response. An error sent before reading the request has no id and gets its id. */
function parseResponse(text: string, id: RequestId): JSONRPCMessage | undefined {
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

const errorResponse = (id: RequestId, message: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32000, message },
})

function versionOf(answer: JSONRPCMessage): string | undefined {
  const version = 'result' in answer ? answer.result.protocolVersion : undefined
  return typeof version === 'string' ? version : undefined
}
