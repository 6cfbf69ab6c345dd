import { useBlocker } from '@tanstack/react-router'
import { t } from '../text/index.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'

interface LeaveAskProps {
  isChanged: boolean
  /** Whether what is written is kept at a place. Another view of the same form keeps it. */
  stays(place: string): boolean
}

/** Asks who leaves a form with unsaved changes. */
export function LeaveAsk({ isChanged, stays }: LeaveAskProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => isChanged && !stays(next.pathname),
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  const leave = async () => blocker.proceed()
  return (
    <Confirm title={t.forms.leave} action={t.forms.leaveDo} run={leave} close={blocker.reset}>
      {t.forms.leaveHelp}
    </Confirm>
  )
}
