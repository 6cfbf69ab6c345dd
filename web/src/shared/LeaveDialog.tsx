import { useBlocker } from '@tanstack/react-router'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'

interface LeaveDialogProps {
  isChanged: boolean
  /** What will be lost. */
  help: string
  /** Whether unsaved changes survive navigation to a path; other views of the same form keep them. */
  shouldStay(place: string): boolean
}

/** Confirms leaving a form with unsaved changes. */
export function LeaveDialog({ isChanged, help, shouldStay }: LeaveDialogProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => isChanged && !shouldStay(next.pathname),
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  const leave = async () => blocker.proceed()
  return (
    <Confirm title={t.forms.leave} action={t.forms.leaveAction} run={leave} close={blocker.reset}>
      {help}
    </Confirm>
  )
}
