import { Notifications } from '@mantine/notifications'

export default function NoticeList() {
  return <Notifications position="bottom-left" limit={3} autoClose={5000} />
}
