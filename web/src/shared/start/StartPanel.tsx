import { Button, Select, Skeleton, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ExistingConversation } from './ExistingConversation.tsx'
import styles from './start.module.css'
import { fieldOf, type StartField } from './start-rules.ts'
import { TemplateFields } from './TemplateFields.tsx'
import { type StartForm, type StartOptions, useStart } from './use-start.ts'

interface StartPanelProps extends StartOptions {
  title: string
  /** Field to choose the recipient, with its error. */
  recipientField?(problem: string | null): ReactNode
}

/** Starts a conversation: choice of connection and template. If one exists, it is opened instead. */
export function StartPanel({ title, recipientField, ...starting }: StartPanelProps) {
  const { recipient, close } = starting
  const start = useStart(starting)
  const refusalFor = refusalIn(start.error)
  const takesFocus = recipientField !== undefined
  const go = useRef<HTMLButtonElement>(null)
  const hasConversation = start.conversation != null
  useEffect(() => {
    if (takesFocus && hasConversation) go.current?.focus()
  }, [takesFocus, hasConversation])
  if (start.hasNoSender) {
    return (
      <SidePanel title={title} close={close}>
        <NoNumber />
      </SidePanel>
    )
  }
  const recipientProblem =
    refusalFor('recipient') ?? (start.isTried && recipient === null ? t.start.problems.recipient : null)
  return (
    <SidePanel
      title={title}
      close={close}
      submit={start.submit}
      footer={
        <>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button ref={go} type="submit" loading={start.isSending} disabled={start.numbers === undefined}>
            {hasConversation ? t.start.open : start.needsConfirmation ? t.compose.refusal.sendAnyway : t.start.send}
          </Button>
        </>
      }
    >
      {!hasConversation && <Text size="sm">{t.start.help}</Text>}
      {recipientField?.(recipientProblem)}
      {recipient !== null && (
        <Fields name={recipient.name} start={start} refusalFor={refusalFor} takesFocus={takesFocus} />
      )}
      {refusalFor('all') !== null && (
        <p className={styles.refusal} role="alert">
          {refusalFor('all')}
        </p>
      )}
    </SidePanel>
  )
}

interface FieldsProps {
  name: string
  start: StartForm
  refusalFor(place: StartField): string | null
  takesFocus: boolean
}

function Fields({ name, start, refusalFor, takesFocus }: FieldsProps) {
  const { numbers, connectionId, conversation, conversations } = start
  if (numbers === undefined || conversation === undefined) return <Skeleton height={120} />
  return (
    <>
      <Select
        label={t.start.number}
        data={numbers.map((one) => ({ value: one.id, label: one.name }))}
        value={connectionId}
        allowDeselect={false}
        error={refusalFor('number')}
        onChange={start.chooseNumber}
      />
      {conversation === null && connectionId !== null && (
        <TemplateFields
          key={`${connectionId} ${start.phone}`}
          connectionId={connectionId}
          start={start}
          refusal={refusalFor('template')}
          takesFocus={takesFocus}
        />
      )}
      <ExistingConversation
        name={name}
        conversation={conversation}
        others={conversations.filter((one) => one !== conversation)}
        open={start.openConversation}
      />
    </>
  )
}

/** Returns the error text for a field. */
function refusalIn(error: unknown): (place: StartField) => string | null {
  if (error === null) return () => null
  const reasons: Record<string, string> = t.compose.refusal.reasons
  const code = error instanceof ApiError ? (error.code ?? '') : ''
  const words = reasons[code] ?? errorSentence(error)
  return (place) => (place === fieldOf(error) ? words : null)
}

function NoNumber() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const connect = () => void navigate({ to: '/w/$workspaceId/connections', params: { workspaceId } })
  const action = { label: t.start.connections, run: connect }
  return <EmptyState title={t.start.noConnection} help={t.start.noConnectionHelp} action={action} />
}
