import { t } from '../text/index.ts'
import { PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { SectionTitle } from '../ui/page/Section.tsx'
import { Identities } from './Identities.tsx'
import { NameForm } from './NameForm.tsx'
import { NotificationPreferences } from './NotificationPreferences.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { Preferences } from './Preferences.tsx'
import { Sessions } from './Sessions.tsx'
import { TwoFactor } from './TwoFactor.tsx'

/** Settings of the person, the same in all workspaces. */
export function ProfilePage() {
  return (
    <>
      <PageHeader title={t.common.pages.profile} />
      <PageBody narrow>
        <SectionTitle value="h2">
          <NameForm />
          <Preferences />
          <NotificationPreferences />
          <PasswordForm />
          <TwoFactor />
          <Identities />
          <Sessions />
        </SectionTitle>
      </PageBody>
    </>
  )
}
