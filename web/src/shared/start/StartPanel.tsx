import { Button, Select, Skeleton, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Failure } from '../../api/failure.ts'
import { t } from '../../text/index.ts'
import { sentenceFor } from '../../ui/format/failure-words.ts'
import { Empty } from '../../ui/page/Empty.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { Existing } from './Existing.tsx'
import styles from './start.module.css'
import { type Place, placeOf } from './start-rules.ts'
import { TemplateFields } from './TemplateFields.tsx'
import { type Start, type Starting, useStart } from './use-start.ts'

interface StartPanelProps extends Starting {
  title: string
  /** Where somebody is picked, with what is wrong with that. */
  whomField?(problem: string | null): ReactNode
}

/** Writes to somebody who has not written: from which number, by which template. What there is with them is opened instead. */
export function StartPanel({ title, whomField, ...starting }: StartPanelProps) {
  const { whom, close } = starting
  const start = useStart(starting)
  const told = refusalIn(start.error)
  const takesFocus = whomField !== undefined
  const go = useRef<HTMLButtonElement>(null)
  const isThere = start.talk != null
  useEffect(() => {
    if (takesFocus && isThere) go.current?.focus()
  }, [takesFocus, isThere])
  if (start.canNone) {
    return (
      <SidePanel title={title} close={close}>
        <NoNumber />
      </SidePanel>
    )
  }
  const whomProblem = told('whom') ?? (start.isTried && whom === null ? t.start.problems.whom : null)
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
            {isThere ? t.start.open : t.start.send}
          </Button>
        </>
      }
    >
      {!isThere && <Text size="sm">{t.start.help}</Text>}
      {whomField?.(whomProblem)}
      {whom !== null && <Fields name={whom.name} start={start} told={told} takesFocus={takesFocus} />}
      {told('all') !== null && (
        <p className={styles.refusal} role="alert">
          {told('all')}
        </p>
      )}
    </SidePanel>
  )
}

interface FieldsProps {
  name: string
  start: Start
  told(place: Place): string | null
  takesFocus: boolean
}

function Fields({ name, start, told, takesFocus }: FieldsProps) {
  const { numbers, connectionId, talk, talks } = start
  if (numbers === undefined || talk === undefined) return <Skeleton height={120} />
  return (
    <>
      <Select
        label={t.start.number}
        data={numbers.map((one) => ({ value: one.id, label: one.name }))}
        value={connectionId}
        allowDeselect={false}
        error={told('number')}
        onChange={start.chooseNumber}
      />
      {talk === null && connectionId !== null && (
        <TemplateFields
          key={`${connectionId} ${start.phone}`}
          connectionId={connectionId}
          start={start}
          refusal={told('template')}
          takesFocus={takesFocus}
        />
      )}
      <Existing name={name} talk={talk} others={talks.filter((one) => one !== talk)} open={start.openTalk} />
    </>
  )
}

/** The words of a refusal, for the place where they belong. */
function refusalIn(error: unknown): (place: Place) => string | null {
  if (error === null) return () => null
  const reasons: Record<string, string> = t.compose.refusal.reasons
  const code = error instanceof Failure ? (error.code ?? '') : ''
  const words = reasons[code] ?? sentenceFor(error)
  return (place) => (place === placeOf(error) ? words : null)
}

function NoNumber() {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const connect = () => void navigate({ to: '/w/$workspaceId/connections', params: { workspaceId } })
  const action = { label: t.start.connections, run: connect }
  return <Empty title={t.start.noConnection} help={t.start.noConnectionHelp} action={action} />
}
