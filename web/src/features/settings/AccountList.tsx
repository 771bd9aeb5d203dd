import { Link } from "@tanstack/react-router";
import { Check, LogOut, Plus } from "lucide-react";
import { useState } from "react";

import { logOut as endSession } from "../../api/accounts";
import { ApiClient } from "../../api/client";
import { avatarUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { Avatar, Button, IconButton } from "../../ui/controls";
import { readAccounts, removeAccount, type Account } from "../session/accounts";
import { useSession } from "../session/session";

/** The accounts that are logged in on this device. */
export function AccountList() {
  const text = useText();
  const { account, switchAccount } = useSession();
  const [accounts, setAccounts] = useState(() => readAccounts());
  const end = async (ended: Account) => {
    await endSession(new ApiClient(ended.token)).catch(() => undefined);
    removeAccount(ended);
    setAccounts(readAccounts());
  };
  return (
    <>
      <ul className="preferences-list">
        {accounts.map((each) => {
          const name = each.name ?? each.userId;
          const isCurrent = each.userId === account.userId;
          const user = { id: each.userId, avatar: each.avatar ?? null };
          return (
            <li key={each.userId} className="preferences-row">
              <Avatar url={avatarUrl(user, 36)} name={name} size={36} hueKey={user.id} />
              <span className="preferences-text">
                <strong>{name}</strong>
                {isCurrent && (
                  <span className="field-hint">
                    <Check size={14} aria-hidden="true" /> {text("settings.accounts.current")}
                  </span>
                )}
              </span>
              {!isCurrent && (
                <>
                  <Button onPress={() => switchAccount(each.userId)}>
                    {text("settings.accounts.switch")}
                  </Button>
                  <IconButton
                    label={text("settings.accounts.logOut", { name })}
                    onPress={() => void end(each)}
                  >
                    <LogOut size={18} />
                  </IconButton>
                </>
              )}
            </li>
          );
        })}
      </ul>
      <div>
        <Link to="/app/login" className="button button-plain">
          <Plus size={16} aria-hidden="true" /> {text("settings.accounts.add")}
        </Link>
      </div>
    </>
  );
}
