import { Component, type ReactNode } from "react";

interface BoundaryProps {
  /** What shows instead of children that cannot be drawn. */
  fallback: ReactNode;
  /** Errors that are left to a boundary further out. */
  passes: (error: unknown) => boolean;
  children: ReactNode;
}

/** Keeps an error in drawing its children from what is around it. */
export class Boundary extends Component<BoundaryProps, { caught: { error: unknown } | null }> {
  override state = { caught: null as { error: unknown } | null };

  static getDerivedStateFromError(error: unknown) {
    return { caught: { error } };
  }

  override render(): ReactNode {
    const { caught } = this.state;
    if (caught === null) {
      return this.props.children;
    }
    if (this.props.passes(caught.error)) {
      throw caught.error;
    }
    return this.props.fallback;
  }
}
