import { Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Check, type SentTest, sendTestMessage, useDelivery } from '../../data/connection/check.ts'
import { type Connection, type Template, useConnectionActions, useTemplates } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import own from './check.module.css'
import { submitting } from './forms.tsx'

interface TestMessageFormProps {
  connection: Connection
  check(): Promise<Check>
}

/** Sends a message to one's own phone, and shows what the platform reports about it. */
export function TestMessageForm({ connection, check }: TestMessageFormProps) {
  const workspaceId = useWorkspaceId()
  const template = useTestTemplate(connection)
  const draft = useDraft({ phone: '' })
  const [sent, setSent] = useState<SentTest | null>(null)
  const { test } = t.connections.setup
  const send = useMutation({
    mutationFn: () =>
      sendTestMessage(
        workspaceId,
        { connectionId: connection.id, phone: draft.value.phone.trim(), text: test.text, template },
        crypto.randomUUID(),
      ),
    onSuccess: setSent,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const help = template === null ? test.phoneHelpText : test.phoneHelp({ template: template.name })
  return (
    <form className={own.form} onSubmit={submitting(() => send.mutate())} noValidate>
      <TextInput
        className={own.field}
        label={test.phone}
        description={help}
        value={draft.value.phone}
        error={draft.errorOf('phone')}
        onChange={(event) => draft.set({ phone: event.currentTarget.value })}
        inputMode="tel"
        autoComplete="tel"
        required
      />
      <Button type="submit" size="compact-md" variant="default" loading={send.isPending}>
        {test.send}
      </Button>
      <p role="status">
        {send.isPending && test.sending}
        {send.isSuccess && sent === null && test.phoneHelpText}
        {!send.isPending && sent !== null && <Delivery sent={sent} check={check} />}
      </p>
    </form>
  )
}

/** Status of the message, as the platform reports it. */
function Delivery({ sent, check }: { sent: SentTest; check(): Promise<Check> }) {
  const { data } = useDelivery(useWorkspaceId(), sent)
  const { test } = t.connections.setup
  const hasArrived = data?.status === 'delivered' || data?.status === 'read'
  const isReported = useRef(false)
  useEffect(() => {
    if (!hasArrived || isReported.current) return
    isReported.current = true
    // The report then says that the platform's events arrive.
    check().catch(showError)
  }, [hasArrived, check])
  if (data?.status === 'failed') return test.failed({ code: data.errorCode ?? '' })
  if (data?.status === 'read') return test.read
  return hasArrived ? test.delivered : test.sent
}

const preferred = 'hello_world'

/** Returns a template that can be sent without values; reads the templates of a number that was just connected. */
function useTestTemplate({ id, templatesSyncedAt }: Connection): Template | null {
  const workspaceId = useWorkspaceId()
  const { data } = useTemplates(workspaceId, id)
  const { syncTemplates } = useConnectionActions(workspaceId)
  const isAsked = useRef(false)
  useEffect(() => {
    if (templatesSyncedAt !== null || isAsked.current) return
    isAsked.current = true
    // A refusal is shown among the templates of the page.
    syncTemplates(id).catch(() => {})
  }, [id, templatesSyncedAt, syncTemplates])
  const usable = data?.filter(
    ({ sendable, parameterCount, header }) => sendable && parameterCount === 0 && header === null,
  )
  return usable?.find(({ name }) => name === preferred) ?? usable?.[0] ?? null
}
