import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useConnectionActions } from '../../data/connections.ts'
import { takeOver } from '../../data/inbox/actions.ts'
import type { Inbox } from '../../data/inbox/inbox.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Conversation } from '../../data/inbox/types.ts'
import { budgetUse } from '../../shared/budget-amount.ts'
import { t } from '../../text/index.ts'
import { problemText } from '../../ui/format/error-texts.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { loadFileSender } from '../attach/file-sender.ts'
import { useBusy } from '../parts/use-busy.ts'
import { quotedMessageOf, setQuotedMessage, withQuote } from '../quote/quoted-message.ts'
import styles from './Composer.module.css'
import { composeStateOf, setDraft, setRefusal } from './drafts.ts'
import type { OutgoingMessage } from './pending-sends.ts'
import type { ReachedBudget, Refusal } from './refusal.ts'
import { refusalReporter } from './send.ts'

interface RefusalLineProps {
  conversation: Conversation
  refusal: Refusal
  send(outgoing: OutgoingMessage): void
}

/** Explains why a message was not sent, with what can be done. The text is back in its field. */
export default function RefusalLine({ conversation, refusal, send }: RefusalLineProps) {
  const workspaceId = useWorkspaceId()
  const { reason, detail, newer, budget } = refusal
  const texts = t.compose.refusal
  const id = conversation.id
  const dismiss = () => setRefusal(workspaceId, id, null)
  // The writer can send it anyway.
  const isQuestion = reason === 'THREAD_MOVED' || reason === 'BUDGET_REACHED'
  return (
    <div className={styles.line} data-tone={isQuestion ? 'attention' : 'bad'} role="alert">
      <div className={styles.text}>
        {!isQuestion && <strong>{texts.title}. </strong>}
        {texts.reasons[reason]} {detail !== '' && problemText(detail)}
        {budget !== null && budgetLine(budget)}
        {reason === 'ACKNOWLEDGEMENT_REQUIRED' && ` ${texts.acknowledgeHelp}`}
        {newer !== null && newer.text !== '' && (
          <div>
            <q dir="auto">{newer.text.slice(0, 200)}</q>
          </div>
        )}
      </div>
      <Remedy conversation={conversation} refusal={refusal} send={send} />
      <Button size="compact-sm" variant="subtle" color="gray" onClick={dismiss}>
        {isQuestion ? texts.edit : texts.dismiss}
      </Button>
    </div>
  )
}

function budgetLine(budget: ReachedBudget): string {
  const { scope, period, resets_at: resetsAt } = budget
  return t.compose.refusal.budget({ scope, period, ...budgetUse(budget), when: formatDateTime(resetsAt) })
}

function OpenConnection({ id }: { id: string }) {
  const to = `/w/${useWorkspaceId()}/connections/${id}`
  return (
    <Button size="compact-sm" variant="default" component={Link} to={to}>
      {t.compose.obstacles.openConnection}
    </Button>
  )
}

function sendFilesAgain(inbox: Inbox, id: string, { ifLastMessageId, isOverBudget = false }: OutgoingMessage): void {
  const confirmed = { seenId: ifLastMessageId, isOverBudget }
  void loadFileSender().then(
    ({ resendFiles }) => resendFiles(inbox, id, refusalReporter(inbox, id), confirmed),
    showError,
  )
}

/** Action that resolves the reason. */
function Remedy({ conversation, refusal, send }: RefusalLineProps) {
  const workspaceId = useWorkspaceId()
  const { reason, outgoing } = refusal
  const { refusal: texts, owner } = t.compose
  const { acknowledge } = useConnectionActions(workspaceId)
  const inbox = useInbox()
  const [isBusy, runTask] = useBusy()
  const { id, connectionId } = conversation
  const again = (changes: Partial<OutgoingMessage> = {}) => {
    if (outgoing.reply.kind === 'media') return sendFilesAgain(inbox, id, { ...outgoing, ...changes })
    // Retried text leaves the field; edited text is sent as it is now, with the current quote.
    const { draft } = composeStateOf(workspaceId, id)
    const isText = outgoing.reply.kind === 'text'
    const text = isText ? draft.reply.trim() : outgoing.text
    if (text === '') return
    const quoted = quotedMessageOf(id)
    if (isText) setDraft(workspaceId, id, { reply: '' })
    setQuotedMessage(id, null)
    const reply = withQuote(isText ? { kind: 'text', text } : outgoing.reply, quoted)
    send({ ...outgoing, ...changes, text, reply, ...(quoted === null ? {} : { quoted }) })
  }
  const first = (step: () => Promise<unknown>) =>
    void runTask(async () => {
      if ((await step()) !== false) again()
    })
  const button = (label: string, run: () => void) => (
    <Button size="compact-sm" loading={isBusy} onClick={run}>
      {label}
    </Button>
  )
  switch (reason) {
    case 'THREAD_MOVED':
      return button(texts.sendAnyway, () => again({ ifLastMessageId: refusal.newer?.id ?? null }))
    case 'BUDGET_REACHED':
      return button(texts.sendAnyway, () => again({ isOverBudget: true }))
    case 'ACKNOWLEDGEMENT_REQUIRED':
      return button(texts.acknowledge, () => first(() => acknowledge(connectionId)))
    case 'OWNER_MISMATCH':
      return button(owner.takeOver, () => first(() => takeOver(inbox, id)))
    case 'CONNECTION_UNAVAILABLE':
      return (
        <>
          {button(texts.tryAgain, () => again())}
          <OpenConnection id={connectionId} />
        </>
      )
    case 'CHAT_INBOX_UNAVAILABLE':
    case 'RATE_LIMITED':
    case 'NOT_RETRYABLE':
    case 'OTHER':
      return button(texts.tryAgain, () => again())
    case 'WINDOW_CLOSED':
    case 'TEMPLATE_NOT_APPROVED':
    case 'INVALID_MESSAGE':
    case 'OPTED_OUT':
    case 'UNSUPPORTED_KIND':
    case 'DENIED':
    case 'NOT_FOUND':
      return null
    default:
      return reason satisfies never
  }
}
