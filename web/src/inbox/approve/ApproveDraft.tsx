import { Button, Textarea, TextInput } from '@mantine/core'
import { IconFileText, IconRobot } from '@tabler/icons-react'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { type AgentDraft, approveDraft, rejectDraft } from '../../data/inbox/agent-drafts.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTime, formatTime } from '../../ui/format/time.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { ShortcutHint, useShortcuts } from '../../ui/shortcuts.ts'
import Sources from '../knowledge/Sources.tsx'
import { useBusy } from '../parts/use-busy.ts'
import { MessageText } from '../thread/MessageText.tsx'
import styles from './ApproveDraft.module.css'

interface ApproveDraftProps {
  conversationId: string
  draft: AgentDraft
}

type Step = 'deciding' | 'editing' | 'rejecting'

/** The answer that an agent proposes: a person sends it, changes it first, or rejects it. */
export default function ApproveDraft({ conversationId, draft }: ApproveDraftProps) {
  const inbox = useInbox()
  const [step, setStep] = useState<Step>('deciding')
  // The draft disappears when it is decided.
  const [isBusy, run] = useBusy()
  const texts = t.approve
  const agent = draft.keyName ?? t.compose.owner.unnamed
  const send = (text: string | null) => run(() => approveDraft(inbox, conversationId, draft.id, text))
  const reject = (reason: string) =>
    run(async () => {
      await rejectDraft(inbox, conversationId, draft.id, reason)
      showToast(texts.rejected({ agent }))
    })
  return (
    <section className={styles.draft} aria-label={texts.title({ agent })}>
      <p className={styles.head}>
        <IconRobot size={15} stroke={1.8} aria-hidden="true" />
        <strong>{texts.title({ agent })}</strong>
        <time dateTime={draft.createdAt} title={formatDateTime(draft.createdAt)}>
          {formatTime(draft.createdAt)}
        </time>
        <Chip tone="plain">{texts.why[draft.why]}</Chip>
      </p>
      {step === 'editing' ? (
        <EditDraft draft={draft} isBusy={isBusy} send={send} cancel={() => setStep('deciding')} />
      ) : (
        <Content draft={draft} />
      )}
      {step === 'deciding' && (
        <Decide canEdit={draft.text !== null} isBusy={isBusy} send={() => void send(null)} go={setStep} />
      )}
      {step === 'rejecting' && (
        <Reject
          agent={agent}
          isBusy={isBusy}
          reject={(reason) => void reject(reason)}
          cancel={() => setStep('deciding')}
        />
      )}
    </section>
  )
}

function Content({ draft: { text, template, options, uploadId, sources } }: { draft: AgentDraft }) {
  return (
    <div className={styles.content}>
      {uploadId !== null && (
        <p className={styles.aside}>
          <IconFileText size={15} aria-hidden="true" /> {t.approve.withFile}
        </p>
      )}
      {text !== null && <MessageText text={text} />}
      {template !== null && (
        <p className={styles.aside}>
          {t.approve.template({ name: template.name })}
          {template.parameters.length > 0 && `: ${template.parameters.join(' · ')}`}
        </p>
      )}
      {options.length > 0 && (
        <ul className={styles.options}>
          {options.map((option) => (
            <li key={option} dir="auto">
              {option}
            </li>
          ))}
        </ul>
      )}
      {sources.length > 0 && <Sources sources={sources} />}
    </div>
  )
}

interface DecideProps {
  canEdit: boolean
  isBusy: boolean
  send(): void
  go(step: Step): void
}

function Decide({ canEdit, isBusy, send, go }: DecideProps) {
  const choices = useMemo(
    () => [
      { keys: 'y', label: t.approve.send, run: () => !isBusy && send() },
      ...(canEdit ? [{ keys: 'i', label: t.approve.edit, run: () => go('editing') }] : []),
      { keys: 'd', label: t.approve.reject, run: () => go('rejecting') },
    ],
    [canEdit, isBusy, send, go],
  )
  useShortcuts(t.approve.group, choices)
  return (
    <div className={styles.buttons}>
      {choices.map(({ keys, label, run }) => (
        <Button
          key={keys}
          size="compact-sm"
          variant={keys === 'y' ? undefined : 'default'}
          loading={keys === 'y' && isBusy}
          onClick={run}
          rightSection={<ShortcutHint keys={keys} />}
        >
          {label}
        </Button>
      ))}
    </div>
  )
}

interface EditDraftProps {
  draft: AgentDraft
  isBusy: boolean
  send(text: string): Promise<void>
  cancel(): void
}

function EditDraft({ draft, isBusy, send, cancel }: EditDraftProps) {
  const [text, setText] = useState(draft.text ?? '')
  const canSend = text.trim() !== '' && !isBusy
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation()
      cancel()
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && canSend) {
      event.preventDefault()
      void send(text)
    }
  }
  return (
    <>
      <Textarea
        aria-label={t.approve.editOf}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        autosize
        maxRows={8}
        maxLength={16_384}
        autoFocus
      />
      <div className={styles.buttons}>
        <Button size="compact-sm" disabled={!canSend} loading={isBusy} onClick={() => void send(text)}>
          {t.approve.sendEdited}
        </Button>
        <Button size="compact-sm" variant="default" onClick={cancel}>
          {t.common.cancel}
        </Button>
      </div>
    </>
  )
}

interface RejectProps {
  agent: string
  isBusy: boolean
  reject(reason: string): void
  cancel(): void
}

function Reject({ agent, isBusy, reject, cancel }: RejectProps) {
  const [reason, setReason] = useState('')
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation()
      cancel()
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing && !isBusy) {
      reject(reason)
    }
  }
  return (
    <>
      <TextInput
        label={t.approve.reason}
        description={t.approve.reasonHelp({ agent })}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        maxLength={1000}
        autoFocus
      />
      <div className={styles.buttons}>
        <Button size="compact-sm" color="red" variant="light" loading={isBusy} onClick={() => reject(reason)}>
          {t.approve.reject}
        </Button>
        <Button size="compact-sm" variant="default" onClick={cancel}>
          {t.common.cancel}
        </Button>
      </div>
    </>
  )
}
