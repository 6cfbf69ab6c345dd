import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { useConnections } from '../../data/connections.ts'
import { useConversationsWithPhone } from '../../data/inbox/recipients.ts'
import { type NewConversation, startConversation } from '../../data/lead/start-conversation.ts'
import { t } from '../../text/index.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { hasInputProblem, type InputValues, inputFields, inputProblems, noInputs } from '../template-inputs.ts'
import { problemOf, type Template, valuesFor } from '../template-preview.ts'
import { canStart, defaultNumber, numbersFor } from './start-rules.ts'

/** A person who can be written to. */
export interface Recipient {
  name: string
  firstName: string
  phone: string
}

export interface StartOptions {
  recipient: Recipient | null
  /** Opens a conversation, new or existing. */
  open(conversationId: string): void
  close(): void
}

export type StartForm = ReturnType<typeof useStart>

/** Values of the form, for one phone of the recipient. */
interface Draft {
  phone: string | null
  template: Template | null
  values: readonly string[]
  /** Values of the template's header and buttons. */
  inputs: InputValues
  isTried: boolean
}

const draftFor = (phone: string | null): Draft => {
  return { phone, template: null, values: [], inputs: noInputs, isTried: false }
}

/** Returns the state of a new conversation. */
export function useStart({ recipient, open, close }: StartOptions) {
  const phone = recipient?.phone ?? null
  const number = useNumber(phone)
  const [kept, setDraft] = useState(() => draftFor(null))
  // Values for another recipient, such as a greeting by name, are dropped.
  const draft = kept.phone === phone ? kept : draftFor(phone)
  const openConversation = (id: string) => {
    close()
    open(id)
  }
  const send = useSend(openConversation)
  const error = send.variables?.phone === phone ? send.error : null
  // If a budget is used up, submitting again sends it anyway.
  const needsConfirmation = error instanceof ApiError && error.code === 'BUDGET_REACHED'
  const choose = (template: Template | null) => {
    send.reset()
    setDraft({
      ...draftFor(phone),
      template,
      values: template === null ? [] : valuesFor(template, recipient?.firstName ?? ''),
    })
  }
  return {
    ...draft,
    ...number,
    choose,
    chooseNumber: (id: string | null) => {
      number.chooseNumber(id)
      choose(null)
    },
    setValue: (n: number, value: string) => setDraft({ ...draft, values: draft.values.with(n, value) }),
    setInputs: (inputs: InputValues) => setDraft({ ...draft, inputs }),
    openConversation,
    /** Sends, or opens the existing conversation without sending. */
    submit: () => {
      if (number.conversation != null) return openConversation(number.conversation.id)
      setDraft({ ...draft, isTried: true })
      const request = requestOf(draft, number.connectionId)
      if (request !== null && number.conversation === null && !send.isPending)
        send.mutate({ ...request, ...(needsConfirmation && { isOverBudget: true }) })
    },
    isSending: send.isPending,
    error,
    needsConfirmation,
  }
}

/** Returns the request; null while it is incomplete or would be refused. */
function requestOf({ phone, template, values, inputs }: Draft, connectionId: string | null): NewConversation | null {
  if (phone === null || template === null || connectionId === null) return null
  if (values.some((value) => problemOf(value, template) !== null)) return null
  if (hasInputProblem(inputProblems(template, inputs))) return null
  const { name, language } = template
  const body_params = values.map((one) => one.trim())
  return {
    connectionId,
    phone,
    template: { name, language, body_params, ...inputFields(template, inputs, body_params[0]) },
  }
}

/** Returns the connection to send from, and the existing conversation with it. */
function useNumber(phone: string | null) {
  const workspaceId = useWorkspaceId()
  const [chosenId, chooseNumber] = useState<string | null>(null)
  const { data: connections } = useConnections(workspaceId)
  const { data, isError } = useConversationsWithPhone(workspaceId, phone)
  const conversations = data ?? []
  const numbers = connections && numbersFor(connections, conversations)
  const connectionId = chosenId ?? defaultNumber(numbers ?? [], localStorage.getItem(lastConnectionKey(workspaceId)))
  const found = conversations.find((one) => one.connectionId === connectionId) ?? null
  return {
    /** Connections to send from; undefined while loading. */
    numbers,
    /** Whether no connection may start conversations. */
    hasNoSender: connections !== undefined && !connections.some(canStart),
    connectionId,
    chooseNumber,
    /** All conversations with the recipient. */
    conversations,
    /** The one with the chosen connection; undefined while loading. */
    // If loading failed, the server decides: it sends in an existing conversation.
    conversation: data === undefined && !isError ? undefined : found,
  }
}

/** Returns the local storage key of the last used connection. */
const lastConnectionKey = (workspaceId: string): string => `parley.start-number.${workspaceId}`

function useSend(done: (conversationId: string) => void) {
  const workspaceId = useWorkspaceId()
  // A failed attempt may have been applied: the same message uses the same idempotency key.
  const key = useRef<{ of: string; value: string }>(undefined)
  return useMutation({
    mutationFn: (request: NewConversation) => {
      const of = JSON.stringify(request)
      if (key.current?.of !== of) key.current = { of, value: crypto.randomUUID() }
      return startConversation(workspaceId, request, key.current.value)
    },
    onSuccess: ({ conversation_id: id, status }, { connectionId }) => {
      localStorage.setItem(lastConnectionKey(workspaceId), connectionId)
      done(id)
      if (status === 'failed') showToast(t.start.failed)
    },
  })
}
