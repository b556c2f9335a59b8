//! Through the real window, tray and bus.
