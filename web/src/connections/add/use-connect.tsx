import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failure } from '../../api/failure.ts'
import { type NewConnection, useConnectionActs } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { reasonWords } from '../../ui/format/failure-words.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { FormProps } from './form-props.ts'
import styles from './forms.module.css'

interface Connect {
  run(): void
  isBusy: boolean
  /** What the check found, and the way to connect in spite of it; null before, and when all is well. */
  failed: ReactNode
}

/** Connects a number whose platform answers for it. One that is refused is kept only if somebody wants that. */
export function useConnect(
  input: () => NewConnection,
  made: FormProps['made'],
  refuse: (error: unknown) => boolean,
): Connect {
  const acts = useConnectionActs(useWorkspaceId())
  const create = useMutation({
    mutationFn: (mustAnswer: boolean) =>
      acts.create({ ...input(), ...(mustAnswer && { mustAnswer }) } as NewConnection),
    onSuccess: made,
    onError: (error) => reasonOf(error) !== null || refuse(error) || complain(error),
  })
  const reason = reasonOf(create.error)
  return {
    run: () => create.mutate(true),
    isBusy: create.isPending,
    failed: reason !== null && <CheckFailed reason={reason} keep={() => create.mutate(false)} />,
  }
}

const reasonOf = (error: unknown): string | null =>
  error instanceof Failure && error.code === 'CHECK_FAILED' ? String(error.data.reason) : null

function CheckFailed({ reason, keep }: { reason: string; keep(): void }) {
  const { title, help, keepAnyway } = t.connections.checkFailed
  return (
    <div className={styles.failed} role="alert">
      <strong>
        {title} {reasonWords(reason)}.
      </strong>
      <span>{help}</span>
      <Button size="compact-sm" variant="default" onClick={keep}>
        {keepAnyway}
      </Button>
    </div>
  )
}
