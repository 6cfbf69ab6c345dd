import { useNotifications } from '@mantine/notifications'
import { Suspense, useRef } from 'react'
import { prefetchedComponent } from './lazy.ts'

const ToastList = prefetchedComponent(() => import('./ToastList.tsx'))

/** Region for toasts, mounted with the first one. */
export function ToastRegion() {
  const wereAny = useRef(false)
  const { notifications } = useNotifications()
  wereAny.current ||= notifications.length > 0
  return (
    wereAny.current && (
      <Suspense>
        <ToastList />
      </Suspense>
    )
  )
}
