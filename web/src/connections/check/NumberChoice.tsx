import { Button, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { type AccountNumbers, type Check, useAccountNumbers } from '../../data/connection/check.ts'
import { type Connection, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import own from './check.module.css'
import { submitting } from './forms.tsx'

/** Chooses one of the numbers that the token can access. */
export function NumberChoice({ connection, check }: { connection: Connection; check(): Promise<Check> }) {
  const workspaceId = useWorkspaceId()
  const [accountId, setAccountId] = useState('')
  const [typedId, setTypedId] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const { data, error, isFetching } = useAccountNumbers(workspaceId, connection.id, accountId)
  const { change } = useConnectionActions(workspaceId)
  const { numbers: texts } = t.connections.setup
  const save = useMutation({
    mutationFn: async ({ account: id, number }: { account: string; number: string }) => {
      await change(connection.id, { accountId: id, numberId: number })
      await check()
    },
    onError: showError,
  })
  const accounts = data?.filter(({ numbers }) => numbers.length > 0) ?? []
  const choice = chosen === null ? undefined : choiceOf(accounts, chosen)
  return (
    <div className={own.form}>
      <div role="status">
        {isFetching && <p>{texts.loading}</p>}
        {!isFetching && error !== null && <p>{failureText(error)}</p>}
        {!isFetching && error === null && accounts.length === 0 && <p>{texts.none}</p>}
      </div>
      {accounts.length > 0 && (
        <form className={own.form} onSubmit={submitting(() => choice && save.mutate(choice))} noValidate>
          <Radio.Group label={texts.label} value={chosen} onChange={setChosen}>
            <div className={own.accounts}>
              {accounts.map((one) => (
                <Account key={one.id} account={one} />
              ))}
            </div>
          </Radio.Group>
          <Button type="submit" size="compact-md" loading={save.isPending} disabled={choice === undefined}>
            {texts.choose}
          </Button>
        </form>
      )}
      <form className={own.form} onSubmit={submitting(() => setAccountId(typedId.trim()))} noValidate>
        <TextInput
          className={own.field}
          label={t.connections.fields.accountId}
          value={typedId}
          onChange={(event) => setTypedId(event.currentTarget.value)}
          autoComplete="off"
        />
        <Button type="submit" size="compact-md" variant="default" loading={isFetching}>
          {texts.show}
        </Button>
      </form>
    </div>
  )
}

function Account({ account: { id, name, numbers } }: { account: AccountNumbers }) {
  const { onPhone, taken } = t.connections.setup.numbers
  return (
    <Stack gap={6} mt={4}>
      <span>
        {name} ({id})
      </span>
      {numbers.map((number) => {
        const notes = [...(number.isOnPhone ? [onPhone] : []), ...(number.isConnected ? [taken] : [])]
        const label = [number.phone, number.name].filter(Boolean).join(' · ')
        return (
          <Radio
            key={number.id}
            value={`${id} ${number.id}`}
            label={label || number.id}
            description={notes.join(', ')}
            disabled={number.isConnected}
          />
        )
      })}
    </Stack>
  )
}

function choiceOf(accounts: readonly AccountNumbers[], chosen: string) {
  const [account = '', number = ''] = chosen.split(' ')
  return accounts.some(({ id }) => id === account) ? { account, number } : undefined
}

const failureText = (error: unknown): string =>
  error instanceof ApiError && error.status === 502
    ? t.connections.setup.numbers.failed({ code: String(error.data.code) })
    : errorSentence(error)
