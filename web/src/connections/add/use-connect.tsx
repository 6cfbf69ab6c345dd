import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { type NewConnection, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { reasonText } from '../../ui/format/error-texts.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FormProps } from './form-props.ts'
import styles from './forms.module.css'

interface Connect {
  run(): void
  isBusy: boolean
  /** The failed check and a button to connect anyway; null if there is none. */
  onFailed: ReactNode
}

/** Connects a number after checking it with the platform. If that fails, connects it only on request. */
export function useConnect(
  input: () => NewConnection,
  created: FormProps['onCreated'],
  refuse: (error: unknown) => boolean,
): Connect {
  const actions = useConnectionActions(useWorkspaceId())
  const create = useMutation({
    mutationFn: (mustAnswer: boolean) =>
      actions.create({ ...input(), ...(mustAnswer && { mustAnswer }) } as NewConnection),
    onSuccess: created,
    onError: (error) => reasonOf(error) !== null || refuse(error) || showError(error),
  })
  const reason = reasonOf(create.error)
  return {
    run: () => create.mutate(true),
    isBusy: create.isPending,
    onFailed: reason !== null && <CheckFailed reason={reason} save={() => create.mutate(false)} />,
  }
}

const reasonOf = (error: unknown): string | null =>
  error instanceof ApiError && error.code === 'CHECK_FAILED' ? String(error.data.reason) : null

function CheckFailed({ reason, save }: { reason: string; save(): void }) {
  const { title, help, keepAnyway } = t.connections.checkFailed
  return (
    <div className={styles.failed} role="alert">
      <strong>{title}</strong>
      <span>
        {reasonText(reason)}. {help}
      </span>
      <Button size="compact-sm" variant="default" onClick={save}>
        {keepAnyway}
      </Button>
    </div>
  )
}
