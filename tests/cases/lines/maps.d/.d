* d hidden
