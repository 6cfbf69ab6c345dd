import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { api, type Schemas } from '../../api/client.ts'
import { useLive } from '../../api/live.ts'
import { cacheConnection } from '../connections.ts'
import { findConversations, readThread, send } from '../inbox/calls.ts'
import { isSameNumber } from '../inbox/recipient-rules.ts'
import { startConversation } from '../lead/start-conversation.ts'
import { connectionKey } from '../workspace-updates.ts'

const onePath = '/api/team/v1/workspaces/{workspaceId}/connections/{connectionId}' as const

export type Check = Schemas['ConnectionCheck']
export type CheckStep = Schemas['ConnectionCheckStep']
export type AccountNumbers = Schemas['ConnectionAccount']

const checkKey = (workspaceId: string, id: string) => [...connectionKey(workspaceId, id), 'check'] as const

/** Returns the stored report of the last check; null if there is none. */
export function useCheck(workspaceId: string, id: string) {
  return useQuery({
    queryKey: checkKey(workspaceId, id),
    queryFn: async () => (await api.GET(`${onePath}/check`, { workspaceId, connectionId: id })).check,
  })
}

/** Returns the check and the steps of connecting. Each asks the platform, stores the report, and rejects on errors. */
export function useCheckActions(workspaceId: string, id: string) {
  const queries = useQueryClient()
  const stored = async (call: () => ReturnType<typeof runCheck>): Promise<Check> => {
    const { connection, check } = await patiently(call)
    queries.setQueryData(checkKey(workspaceId, id), check)
    cacheConnection(queries, workspaceId, connection)
    return check
  }
  return {
    run: () => stored(() => runCheck(workspaceId, id)),
    subscribe: () => stored(() => api.POST(`${onePath}/subscribe`, { workspaceId, connectionId: id })),
    register: (pin: string) =>
      stored(() => api.POST(`${onePath}/register`, { workspaceId, connectionId: id, body: { pin } })),
    requestHistory: () => stored(() => api.POST(`${onePath}/history`, { workspaceId, connectionId: id })),
  }
}

const runCheck = (workspaceId: string, id: string) => api.POST(`${onePath}/check`, { workspaceId, connectionId: id })

/** Returns the numbers that the connection's token can access. Read once, because each read asks the platform. */
export function useAccountNumbers(workspaceId: string, id: string, accountId: string) {
  return useQuery({
    queryKey: [workspaceId, 'connection numbers', id, accountId],
    queryFn: async () => {
      const query = { accountId: accountId || null }
      return (await patiently(() => api.GET(`${onePath}/numbers`, { workspaceId, connectionId: id, query }))).accounts
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
}

const maxWaits = 3

/** Repeats a call that was made too soon after others. */
async function patiently<T>(call: () => Promise<T>, waits = 0): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const waitMs = error instanceof ApiError && error.status === 429 ? Number(error.data.retryAfterMs) : Number.NaN
    if (Number.isNaN(waitMs) || waits >= maxWaits) throw error
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    return patiently(call, waits + 1)
  }
}

export interface TestMessage {
  connectionId: string
  phone: string
  text: string
  /** Sent if the customer has not just written; null: the account has none. */
  template: { name: string; language: string } | null
}

export interface SentTest {
  conversationId: string
  messageId: string
}

const maxConversations = 50

/** Sends a text if the number has just written to the connection, else the template; null if there is none. */
export async function sendTestMessage(
  workspaceId: string,
  { connectionId, phone, text, template }: TestMessage,
  key: string,
): Promise<SentTest | null> {
  const found = await findConversations(workspaceId, phone, maxConversations)
  const open = found.find(
    (one) =>
      one.connectionId === connectionId &&
      one.contact.phone !== null &&
      isSameNumber(one.contact.phone, phone) &&
      one.windowExpiresAt !== null &&
      Date.parse(one.windowExpiresAt) > Date.now(),
  )
  if (open !== undefined) {
    const sent = await send(workspaceId, open.id, { kind: 'text', text }, { key, ifLastMessageId: null })
    return { conversationId: open.id, messageId: sent.message_id }
  }
  if (template === null) return null
  const { name, language } = template
  const request = { connectionId, phone, template: { name, language } }
  const started = await startConversation(workspaceId, request, key)
  return { conversationId: started.conversation_id, messageId: started.message_id }
}

const testKey = (workspaceId: string, messageId: string) => [workspaceId, 'test message', messageId] as const
const newest = 20
const pollMs = 5_000
const statusEvents = ['inbox.message.status'] as const
const finalStatuses: readonly string[] = ['delivered', 'read', 'failed']

/** Follows the delivery of a test message. */
export function useDelivery(workspaceId: string, sent: SentTest | null) {
  const queries = useQueryClient()
  const messageId = sent?.messageId ?? ''
  useLive(
    statusEvents,
    useCallback(
      () => void queries.invalidateQueries({ queryKey: testKey(workspaceId, messageId) }),
      [queries, workspaceId, messageId],
    ),
  )
  return useQuery({
    queryKey: testKey(workspaceId, messageId),
    queryFn: async () => {
      const { items } = await readThread(workspaceId, sent?.conversationId ?? '', { limit: newest })
      const message = items.find(({ id }) => id === messageId)?.message
      return message === undefined ? null : { status: message.status, errorCode: message.errorCode }
    },
    enabled: sent !== null,
    // The stream may have missed it.
    refetchInterval: ({ state }) => (finalStatuses.includes(state.data?.status ?? '') ? false : pollMs),
  })
}
