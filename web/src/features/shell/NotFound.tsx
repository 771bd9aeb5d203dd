import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";

import { Translate } from "../../i18n/translate";

/** What shows at an address that leads to no screen. */
export default function NotFound() {
  return (
    <main id="main" className="page">
      <div className="opening">
        <Compass size={40} aria-hidden />
        <h1>
          <Translate id="app.notFound.title" />
        </h1>
        <p>
          <Translate id="app.notFound.text" />
        </p>
        <Link to="/channels/@me" className="button button-primary">
          <Translate id="app.notFound.back" />
        </Link>
      </div>
    </main>
  );
}
